import test from 'ava';
import { type Entry, JobQueue, type QueueConsumer } from '../../src/batch/job-queue.js';

let index = 0;
const entry = (bytes: number, more: Partial<Entry> & { device?: string } = {}): Entry => {
  const { device, ...rest } = more;
  const job = { name: `${bytes}`, in: '', out: '', ...(device !== undefined && { device }) };
  const facts = { memory: 0, limit: 0, weight: 1, isSmall: false, failures: 0, isSuspect: false };
  return { job, index: index++, bytes, ...facts, ...rest };
};
const consumer = (device: string, more: Partial<QueueConsumer> = {}): QueueConsumer => ({
  device,
  shares: true,
  isIdle: true,
  others: [],
  ...more,
});

/** All fields that a device would receive. */
function takeAll(queue: JobQueue, who: QueueConsumer): number[] {
  const list: number[] = [];
  for (let next = queue.next(who); next && next !== 'wait'; next = queue.next(who)) {
    next.take();
    list.push(next.entry.bytes);
  }
  return list;
}

test('the largest job for the device comes first, and failed jobs come last', (t) => {
  const queue = new JobQueue();
  queue.requeue(entry(100));
  queue.add([entry(3), entry(9), entry(5, { device: 'gpu' }), entry(7, { device: 'cpu' })]);
  queue.add([entry(6)]);
  t.deepEqual(takeAll(queue, consumer('gpu')), [9, 6, 5, 3, 100]);
  t.deepEqual(takeAll(queue, consumer('cpu', { shares: false })), [7]);
});

test('a suspect job runs alone, on another device if there is one', (t) => {
  const queue = new JobQueue();
  queue.add([entry(9)]);
  queue.requeue(entry(1, { isSuspect: true, avoid: 'gpu' }));
  t.deepEqual(
    takeAll(queue, consumer('gpu', { others: ['cpu'] })),
    [9],
    'the device that it failed on continues',
  );
  queue.add([entry(8)]);
  t.is(
    queue.next(consumer('cpu', { isIdle: false, others: ['gpu'] })),
    'wait',
    'the other device first completes its current job',
  );
  t.deepEqual(takeAll(queue, consumer('cpu', { others: ['gpu'] })), [1, 8]);
  queue.requeue(entry(2, { isSuspect: true, avoid: 'gpu' }));
  t.deepEqual(takeAll(queue, consumer('gpu')), [2], 'the same device, if there is no other');
  queue.requeue(entry(3, { isSuspect: true, avoid: 'gpu', device: 'gpu' }));
  t.deepEqual(takeAll(queue, consumer('gpu', { others: ['cpu'] })), [3], 'or if the job names that device');
});

test('the next job to retry is found without a search through all of them', (t) => {
  const queue = new JobQueue();
  const jobs = 3000;
  let takes = 0;
  for (let i = 0; i < jobs; i++) {
    const failed = entry(1, { avoid: i % 2 ? 'gpu' : 'cpu' });
    const { job } = failed;
    Object.defineProperty(failed, 'job', {
      get: () => {
        takes++;
        return job;
      },
    });
    queue.requeue(failed);
  }
  const gpu = consumer('gpu', { others: ['cpu'] });
  t.is(takeAll(queue, gpu).length, jobs / 2, 'those that failed on the other device');
  t.is(takeAll(queue, consumer('gpu')).length, jobs / 2, 'and the rest, where there is no other');
  t.true(takes < 5 * jobs, `${takes} looks at ${jobs} jobs`);
});

test('jobs that no remaining device can run are removed', (t) => {
  const queue = new JobQueue();
  queue.add([entry(1), entry(2, { device: 'gpu' }), entry(3, { device: 'cpu' })]);
  queue.requeue(entry(4, { device: 'gpu' }));
  const bytes = (entries: Entry[]) => entries.map((one) => one.bytes).toSorted();
  t.deepEqual(bytes(queue.removeUnassignable(['cpu'], true)), [2, 4]);
  t.deepEqual(bytes(queue.removeUnassignable([], false)), [1, 3]);
});
