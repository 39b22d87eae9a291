import test from 'ava';
import { type FileFacts, maxWholeBytes, planFile } from '../../../src/io/file-sort/file-plan.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

const KEYS: FileFacts = { bytes: GIB, recordBytes: 8, argsort: false, memory: 8 * GIB };

const plan = (facts: Partial<FileFacts>) => planFile({ ...KEYS, ...facts });

test('small inputs are sorted as a whole, and larger ones only on a GPU with enough memory', (t) => {
  for (const hasDedicatedMemory of [false, true]) {
    t.is(plan({ bytes: 64 * MIB, hasDedicatedMemory }), 'whole');
    t.is(plan({ bytes: 64 * MIB, memory: 100 * MIB, hasDedicatedMemory }), 'parts');
    t.is(plan({ bytes: undefined, hasDedicatedMemory }), 'parts', 'a pipe above the limit');
  }
  t.is(plan({}), 'parts');
  t.is(plan({ isPooled: true, bytes: 2 ** 29 }), 'whole');
  t.is(plan({ hasDedicatedMemory: true }), 'whole');
  t.is(plan({ hasDedicatedMemory: true, bytes: 4 * GIB }), 'parts');
  t.is(plan({ memory: undefined }), 'whole', 'without a limit');
});

test('positions are computed as a whole while the memory also holds the positions', (t) => {
  const argsort = true;
  t.is(plan({ argsort }), 'whole');
  t.is(plan({ argsort, bytes: 2 * GIB }), 'parts');
  t.is(plan({ argsort, bytes: 2 * GIB, hasDedicatedMemory: true }), 'whole');
  t.is(plan({ argsort, recordBytes: 1 }), 'parts', 'positions of four bytes beside keys of one');
  t.is(plan({ argsort, bytes: 800, wideFrom: 101 }), 'whole');
  t.is(plan({ argsort, bytes: 800, wideFrom: 100 }), 'parts', 'positions of 64 bits');
});

test('records are sorted as a whole while the memory holds them and their sort', (t) => {
  const records = { recordBytes: 100, sortBytes: 112 };
  t.is(plan({ ...records, bytes: 3 * GIB }), 'whole');
  t.is(plan({ ...records, bytes: 4 * GIB, hasDedicatedMemory: true }), 'parts');
  t.is(maxWholeBytes({ ...records, argsort: false }, 252_000), 100_000);
});

test('a file is streamed to a device that holds three copies, whatever the memory of the host', (t) => {
  const device = { maxAllocation: 2 * GIB, globalBytes: 4 * GIB, minBytes: 16 * MIB };
  t.is(plan({ device, memory: 16 * MIB }), 'device');
  t.is(plan({ device, memory: undefined }), 'device');
  t.is(plan({ device, bytes: 15 * MIB }), 'whole');
  t.is(plan({ device, bytes: 1.3 * GIB }), 'parts', 'three copies');
  t.is(plan({ device: { ...device, maxAllocation: GIB - 1 } }), 'parts', 'one buffer');
  t.is(plan({ device, argsort: true, recordBytes: 4 }), 'whole', 'keys and positions, three times');
  t.is(plan({ device, argsort: true, wideFrom: 1 }), 'parts');
});

test('an interrupted sort is resumed in partitions', (t) => {
  const device = { maxAllocation: 2 * GIB, globalBytes: 4 * GIB, minBytes: 0 };
  t.is(plan({ bytes: 800, resumes: true, device }), 'parts');
});

test('a pipe is buffered up to the size that is sorted as a whole', (t) => {
  const keys = { recordBytes: 4, argsort: false };
  t.is(maxWholeBytes(keys, 8 * GIB, true), 64 * MIB);
  t.true(maxWholeBytes(keys, 100 * MIB, true) < 25 * MIB);
  t.true(maxWholeBytes({ ...keys, argsort: true }, 100 * MIB, true) < 13 * MIB);
});
