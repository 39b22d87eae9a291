/** Kernels that the first call of each operation compiles: those that it launches, all at once, since compilation takes longest. */
import test from 'ava';
import { Program } from '../../src/device/programs/program.js';
import { Queue } from '../../src/device/queue/queue.js';
import { Sorter } from '../../src/index.js';
import { TIMED_OPERATIONS } from '../../src/sort/operations/cases.js';
// Loaded before the calls, since a program that begins after an import would count as one that begins after a compilation.
import '../../src/sort/operations/histogram/device.js';
import '../../src/sort/operations/join/device.js';
import '../../src/sort/operations/merge/device.js';
import '../../src/sort/operations/merge-many/device.js';
import '../../src/sort/operations/reduce-by-key/device.js';
import '../../src/sort/operations/search-sorted/device.js';
import '../../src/sort/operations/select/device.js';
import '../../src/sort/operations/sets/device.js';
import { deviceNames, PLATFORMS } from '../each-device.js';

/** Number of keys: few enough for a test, and more than a work-group sorts. */
const N = 40_000;

const LENGTHS = 'the lengths of the segments, which only the device knows, determine which kernels sort';

const RANGE = 'the range of the keys, which only the device knows, determines whether a table is used';

/** Kernels that are compiled though the call does not launch them, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  contains: 'a binary search, as search_sorted, in one program',
  search_sorted: 'a binary search, as contains, in one program',
  mark_members: RANGE,
  find_members: RANGE,
  segment_ids: 'as subtract_begins',
  segment_ids_at: 'as subtract_begins',
  subtract_begins: 'a few instructions; another program would take longer to compile',
  top_positions: 'a few instructions; another program would take longer to compile',
  serial_counts: LENGTHS,
  serial_places: LENGTHS,
  serial_move: LENGTHS,
};

/** On rusticl one program sorts segments of all lengths, since it is a CPU device whose loops are limited. */
const ANY_LENGTH = 'only GPUs have programs for segments of known lengths';
const RUSTICL_EXCEPTIONS: Readonly<Record<string, string>> = {
  segment_classes: ANY_LENGTH,
  segment_tiles: ANY_LENGTH,
  segment_passes: ANY_LENGTH,
  segment_counts: ANY_LENGTH,
  segment_places: ANY_LENGTH,
  segment_move: ANY_LENGTH,
};

const exceptionsOf = (name: string): Readonly<Record<string, string>> =>
  name === 'rusticl' ? { ...EXCEPTIONS, ...RUSTICL_EXCEPTIONS } : EXCEPTIONS;

const compiled = new Set<string>();
const launched = new Set<string>();

/**
 * Whether a program of the call was compiled, and names of the programs that were begun after that. A program is begun again
 * if the driver allows only smaller groups.
 */
let hasCompiled = false;
const begun = new Set<string>();
const later = new Set<string>();

const { build } = Program;
Program.build = async (...args) => {
  const [, { options }, name] = args;
  const variant = `${name} ${options.replace(/-D(GROUP|LOCAL)_SIZE=\d+/, '')}`;
  if (hasCompiled && !begun.has(variant)) later.add(name);
  begun.add(variant);
  const program = await build.apply(Program, args);
  hasCompiled = true;
  for (const name of program.kernelNames) compiled.add(name);
  return program;
};
const { run } = Queue.prototype;
Queue.prototype.run = function (kernel, ...args) {
  launched.add(kernel.name);
  run.call(this, kernel, ...args);
};

const words = (multiplier: number): Uint32Array =>
  Uint32Array.from({ length: N }, (_, i) => Math.imul(i, multiplier) >>> 0);
const inputs = {
  keys: words(2654435761),
  values: words(1),
  few: words(2654435761).map((word) => word % 1000),
  indices: words(40_503).map((word) => word % N),
};

for (const name of deviceNames()) {
  for (const operation of TIMED_OPERATIONS) {
    test.serial(
      `${name}: the first ${operation.name} compiles only kernels that it launches, at once`,
      async (t) => {
        const sorter = await Sorter.open({ device: PLATFORMS[name] ?? name });
        compiled.clear(); // a driver that is new here is probed when it is opened
        later.clear();
        begun.clear();
        hasCompiled = false;
        try {
          const call = operation.prepare(N);
          await call(sorter, inputs);
          launched.clear(); // the self-test launches more
          await call(sorter, inputs);
          const unused = [...compiled].filter(
            (kernel) => !launched.has(kernel) && !(kernel in exceptionsOf(name)),
          );
          t.deepEqual(unused, []);
          t.true(launched.size > 0);
          t.deepEqual([...later], []);
        } finally {
          await sorter.close();
        }
      },
    );
  }
}

const VERIFIED: Readonly<Record<string, (sorter: Sorter) => Promise<unknown>>> = {
  sort: (sorter) => sorter.sort(inputs.keys, { verify: true }),
  argsort: (sorter) => sorter.argsort(inputs.keys, { verify: true }),
  segmentedSort: (sorter) => sorter.segmentedSort(inputs.keys, 100, { verify: true }),
  unique: (sorter) => sorter.unique(inputs.few, { verify: true }),
  scan: (sorter) => sorter.scan(inputs.keys, { verify: true }),
  filter: (sorter) => sorter.filter(inputs.keys, { below: 1000 }, { verify: true }),
  partition: (sorter) => sorter.partition(inputs.keys, { below: 1000 }, { verify: true }),
  topK: (sorter) => sorter.topK(inputs.keys, 100, { verify: true }),
  topKSegments: (sorter) => sorter.topKSegments(inputs.keys, [0, 15_000, N], 10, { verify: true }),
  'topKSegments of rows': (sorter) => sorter.topKSegments(inputs.keys, 100, 10, { verify: true }),
  union: (sorter) => sorter.union(inputs.keys, inputs.few, { verify: true }),
};

for (const name of deviceNames()) {
  for (const [operation, call] of Object.entries(VERIFIED)) {
    test.serial(
      `${name}: the first ${operation} with verification compiles its programs at once`,
      async (t) => {
        const sorter = await Sorter.open({ device: PLATFORMS[name] ?? name });
        later.clear();
        begun.clear();
        hasCompiled = false;
        try {
          await call(sorter);
          t.true(hasCompiled);
          t.deepEqual([...later], []);
        } finally {
          await sorter.close();
        }
      },
    );
  }
}
