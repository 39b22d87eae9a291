import test from 'ava';
import {
  cacheSizedBudget,
  memoryBudget,
  minMemory,
  partitionBudget,
  partitionCount,
} from '../../../src/io/external/budget.js';
import { UsageError } from '../../../src/util/errors.js';
import { orderOf, TEN_OF_TWELVE } from './small.js';

const GIB = 2 ** 30;

test('buffers and scratch of a partition fit the budget, and partitions hold whole aligned records', (t) => {
  for (const order of [
    orderOf('u8'),
    orderOf('f64'),
    TEN_OF_TWELVE,
    { ...TEN_OF_TWELVE, recordBytes: 100, sortBytes: 130 },
  ]) {
    for (const memory of [minMemory(order), 2 ** 28, GIB]) {
      const { partitionBytes } = partitionBudget(memory, order);
      t.true(4 * partitionBytes + (2 * partitionBytes * order.sortBytes) / order.recordBytes <= memory);
      t.true(partitionBytes >= 8 * order.recordBytes);
      t.is(partitionBytes % order.recordBytes, 0);
      t.is(partitionBytes % 8, 0);
    }
  }
});

test('too little memory is rejected with the required minimum', (t) => {
  const order = orderOf('u32');
  const minBytes = minMemory(order);
  t.notThrows(() => partitionBudget(minBytes, order));
  const error = t.throws(() => partitionBudget(minBytes - 1, order), { instanceOf: UsageError });
  t.deepEqual(error?.details, { memory: minBytes - 1, least: minBytes });
  t.true(minMemory({ ...TEN_OF_TWELVE, recordBytes: 2 ** 20, sortBytes: 2 ** 20 }) >= 64 * 2 ** 20);
});

test('an input is sorted in memory if twice its size is available', (t) => {
  const order = orderOf('f64');
  const budget = memoryBudget(2 * GIB, order, GIB);
  t.true((budget?.partitionBytes ?? GIB) < GIB / 16);
  t.is(memoryBudget(GIB, order, GIB), undefined);
});

test('the number of partitions follows the input size up to the maximum', (t) => {
  const budget = partitionBudget(GIB, orderOf('f64'));
  t.is(partitionCount(budget, 0), 2);
  const many = partitionCount(budget, 6 * GIB);
  t.true(many * budget.partitionBytes > 6 * GIB && many < 64, `${many}`);
  t.is(partitionCount(budget, 2 ** 50), budget.maxPartitions);
  t.true(partitionCount(budget, undefined) > 16);
});

test('partitions fit the cache unless there would be too many of them', (t) => {
  const order = orderOf('f64');
  const budget = partitionBudget(4 * GIB, order);
  const sized = (bytes: number | undefined): number => cacheSizedBudget(budget, order, bytes).partitionBytes;
  t.is(sized(GIB), 2 ** 25);
  t.is(sized(undefined), budget.partitionBytes);
  t.true(
    sized(100 * GIB) > 2 ** 25 && partitionCount(cacheSizedBudget(budget, order, 100 * GIB), 100 * GIB) < 512,
  );
  t.is(sized(2 ** 45), budget.partitionBytes);
  const little = partitionBudget(2 ** 26, order);
  t.deepEqual(cacheSizedBudget(little, order, GIB), little);
});
