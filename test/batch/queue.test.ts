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

test('the largest job comes first, whether it names the device or none; what failed comes last', (t) => {
  const queue = new JobQueue();
  queue.addAgain(entry(100));
  queue.add([entry(3), entry(9), entry(5, { device: 'gpu' }), entry(7, { device: 'cpu' })]);
  queue.add([entry(6)]);
  t.deepEqual(taken(queue, asker('gpu')), [9, 6, 5, 3, 100]);
  t.deepEqual(taken(queue, asker('cpu', { shares: false })), [7]);
});

test('a suspect is run alone, on another device where there is one', (t) => {
  const queue = new JobQueue();
  queue.add([entry(9)]);
  queue.addAgain(entry(1, { isSuspect: true, avoid: 'gpu' }));
  t.deepEqual(taken(queue, asker('gpu', { others: ['cpu'] })), [9], 'the device that it failed on goes on');
  queue.add([entry(8)]);
  t.is(
    queue.next(asker('cpu', { isIdle: false, others: ['gpu'] })),
    'wait',
    'the other one ends what it is at first',
  );
  t.deepEqual(taken(queue, asker('cpu', { others: ['gpu'] })), [1, 8]);
  queue.addAgain(entry(2, { isSuspect: true, avoid: 'gpu' }));
  t.deepEqual(taken(queue, asker('gpu')), [2], 'the same one, where there is no other');
  queue.addAgain(entry(3, { isSuspect: true, avoid: 'gpu', device: 'gpu' }));
  t.deepEqual(taken(queue, asker('gpu', { others: ['cpu'] })), [3], 'or where it names that one');
});

test('what nobody is left to do is taken out', (t) => {
  const queue = new JobQueue();
  queue.add([entry(1), entry(2, { device: 'gpu' }), entry(3, { device: 'cpu' })]);
  queue.addAgain(entry(4, { device: 'gpu' }));
  const bytes = (entries: Entry[]) => entries.map((one) => one.bytes).toSorted();
  t.deepEqual(bytes(queue.without(['cpu'], true)), [2, 4]);
  t.deepEqual(bytes(queue.without([], false)), [1, 3]);
});
