import test from 'ava';
import { type Asker, type Entry, JobQueue } from '../../src/batch/queue.js';

let index = 0;
const entry = (bytes: number, more: Partial<Entry> & { device?: string } = {}): Entry => {
  const { device, ...rest } = more;
  const job = { name: `${bytes}`, in: '', out: '', ...(device !== undefined && { device }) };
  const facts = { memory: 0, limit: 0, weight: 1, failures: 0, isSuspect: false };
  return { job, index: index++, bytes, ...facts, ...rest };
};
const asker = (device: string, more: Partial<Asker> = {}): Asker => ({
  device,
  shares: true,
  isIdle: true,
  others: [],
  ...more,
});

/** All that a device would be given. */
function taken(queue: JobQueue, who: Asker): number[] {
  const list: number[] = [];
  for (let next = queue.next(who); next && next !== 'wait'; next = queue.next(who)) {
    next.take();
    list.push(next.entry.bytes);
  }
  return list;
}

test('the largest job for the device comes first, and failed jobs come last', (t) => {
  const queue = new JobQueue();
  queue.addAgain(entry(100));
  queue.add([entry(3), entry(9), entry(5, { device: 'gpu' }), entry(7, { device: 'cpu' })]);
  queue.add([entry(6)]);
  t.deepEqual(taken(queue, asker('gpu')), [9, 6, 5, 3, 100]);
  t.deepEqual(taken(queue, asker('cpu', { shares: false })), [7]);
});

test('a suspect job runs alone, on another device if there is one', (t) => {
  const queue = new JobQueue();
  queue.add([entry(9)]);
  queue.addAgain(entry(1, { isSuspect: true, avoid: 'gpu' }));
  t.deepEqual(taken(queue, asker('gpu', { others: ['cpu'] })), [9], 'the device that it failed on continues');
  queue.add([entry(8)]);
  t.is(
    queue.next(asker('cpu', { isIdle: false, others: ['gpu'] })),
    'wait',
    'the other device first completes its current job',
  );
  t.deepEqual(taken(queue, asker('cpu', { others: ['gpu'] })), [1, 8]);
  queue.addAgain(entry(2, { isSuspect: true, avoid: 'gpu' }));
  t.deepEqual(taken(queue, asker('gpu')), [2], 'the same device, if there is no other');
  queue.addAgain(entry(3, { isSuspect: true, avoid: 'gpu', device: 'gpu' }));
  t.deepEqual(taken(queue, asker('gpu', { others: ['cpu'] })), [3], 'or if the job names that device');
});

test('the next job to retry is found without a search through all of them', (t) => {
  const queue = new JobQueue();
  const jobs = 3000;
  let looks = 0;
  for (let i = 0; i < jobs; i++) {
    const failed = entry(1, { avoid: i % 2 ? 'gpu' : 'cpu' });
    const { job } = failed;
    Object.defineProperty(failed, 'job', {
      get: () => {
        looks++;
        return job;
      },
    });
    queue.addAgain(failed);
  }
  const gpu = asker('gpu', { others: ['cpu'] });
  t.is(taken(queue, gpu).length, jobs / 2, 'those that failed on the other device');
  t.is(taken(queue, asker('gpu')).length, jobs / 2, 'and the rest, where there is no other');
  t.true(looks < 5 * jobs, `${looks} looks at ${jobs} jobs`);
});

test('jobs that no remaining device can run are removed', (t) => {
  const queue = new JobQueue();
  queue.add([entry(1), entry(2, { device: 'gpu' }), entry(3, { device: 'cpu' })]);
  queue.addAgain(entry(4, { device: 'gpu' }));
  const bytes = (entries: Entry[]) => entries.map((one) => one.bytes).toSorted();
  t.deepEqual(bytes(queue.without(['cpu'], true)), [2, 4]);
  t.deepEqual(bytes(queue.without([], false)), [1, 3]);
});
