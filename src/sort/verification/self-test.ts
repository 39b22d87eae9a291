import type { Algorithm, AlgorithmShape } from '../../algorithms/algorithm.js';
import { algorithmNamed } from '../../algorithms/registry.js';
import { enqueueTrial, type Trial } from '../../algorithms/trial.js';
import type { Device } from '../../device/device.js';
import type { Buffer as DeviceBuffer } from '../../device/memory/buffer.js';
import type { DeviceInfo } from '../../device/platform/platform.js';
import type { Queue } from '../../device/queue/queue.js';
import { type HostColumn, keyColumn } from '../../keys/array.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { keyCodec, type Order } from '../../keys/key-codec.js';
import { ClsortError, DeviceLostError, MemoryError, TimeoutError } from '../../util/errors.js';
import { publishPreparation } from '../../util/preparation-channel.js';
import { Random } from '../../util/random.js';
import {
  readSelfTestRecord,
  type SelfTestKey,
  type SelfTestRecord,
  storeSelfTestRecord,
} from '../../util/self-test-records.js';
import { nativeSort } from '../host/native-sort.js';

/** Numbers of keys in the order of the tests, which end when one is too large or the budget is used up. */
const SIZES = [1, 2, 32, 64, 257, 1_000, 4_000, 8_192, 70_001, 300_007];

/** Those of them at which arrays in order are tested: the largest of strictly descending keys of 8, 16 and more bits. */
const ORDERED_SIZES = [32, 8_192, 70_001];

/**
 * Sorts of about the largest size that follow, for variants whose work-groups pass data to each other. If they are
 * deferred, each pattern is tested before with up to this number of keys.
 */
const STRESS_ROUNDS = 8;
const STRESS_PATTERNS: readonly Pattern[] = ['constant', 'random', 'runs'];
const MAX_KEYS_BEFORE_STRESS = 70_001;

/** Seconds after which a self-test ends with the cases that have passed; sizes up to 257 always run. */
const BUDGET_SECONDS = 1;

/**
 * Milliseconds after which a self-test counts as hung and the device is abandoned with all its memory. A CPU device compiles
 * a kernel at its first launch, which took rusticl more than a minute under load.
 */
const DEADLINE_MS = 60_000;
const CPU_DEADLINE_MS = 300_000;

const deadlineOf = ({ info }: Device): number => (info.type === 'cpu' ? CPU_DEADLINE_MS : DEADLINE_MS);

const UNSIGNED = { 8: 'u8', 16: 'u16', 32: 'u32', 64: 'u64' } as const satisfies Record<number, Dtype>;
const NON_IDENTITY_CODEC = { 8: 'i8', 16: 'f16', 32: 'f32', 64: 'f64' } as const satisfies Record<
  number,
  Dtype
>;

/** Bits that a variant for windows is tested on. */
const windowOf = ({ window, keyBits }: AlgorithmShape): readonly [number, number] =>
  window ? [1, keyBits - 2] : [0, keyBits];

function partsOf(
  { platform, name: deviceName, driver }: DeviceInfo,
  name: string,
  shape: AlgorithmShape,
): SelfTestKey {
  const tuning = JSON.stringify(Object.entries(shape.tuning ?? {}).toSorted());
  const variant = [name, shape.keyBits, shape.valueBytes, tuning, ...(shape.window ? ['window'] : [])];
  return [platform, deviceName, driver, ...variant];
}

/** Whether a variant was tested, in this process or an earlier one. */
export const hasSelfTestRecord = (info: DeviceInfo, name: string, shape: AlgorithmShape): boolean =>
  readSelfTestRecord(partsOf(info, name, shape)) !== undefined;

/** Variants during whose self-test the device failed, in this process. */
const failedOnce = new Set<string>();

/**
 * Returns whether a compiled variant may be used on its device: from the self-test record on disk, or else by a
 * self-test against the host engine, whose result is stored.
 *
 * Some drivers lose keys, so no user data passes through a variant before it has passed. A device failure during the
 * self-test rejects the variant only the second time.
 *
 * @param options.again whether to test even if there is a record; default false
 * @param options.defersStress whether the caller runs the stress rounds later, by `stressTest`; default false
 * @throws DeviceLostError when the device failed or the self-test exceeded its deadline
 */
export async function selfTest(
  algorithm: Algorithm,
  { again = false, defersStress = false } = {},
): Promise<SelfTestRecord> {
  const parts = partsOf(algorithm.device.info, algorithm.name, algorithm.shape);
  const key = parts.join(' | ');
  const known = readSelfTestRecord(parts);
  if (known && !again && (defersStress || !known.stressIsDue)) return known;
  const store = (reason: string | undefined): SelfTestRecord => {
    failedOnce.delete(key);
    const stressIsDue = defersStress && reason === undefined && stressCases(algorithm).length > 0;
    return storeSelfTestRecord(parts, reason, { stressIsDue });
  };
  for (;;) {
    try {
      const run = () => runSelfTest(algorithm, defersStress);
      return store(await publishPreparation('self-test', algorithm.name, run));
    } catch (error) {
      if (!(error instanceof DeviceLostError || error instanceof MemoryError)) throw error;
      const lost = error instanceof DeviceLostError || !(await isResponsive(algorithm.device));
      if (failedOnce.has(key)) {
        const record = store(`the device failed twice: ${error.message}`);
        if (!lost) return record;
      } else {
        failedOnce.add(key);
      }
      if (lost) {
        const message = `cannot complete the self-test of algorithm '${algorithm.name}': ${error.message}`;
        throw new DeviceLostError(message, { cause: error });
      }
    }
  }
}

/** Whether the device still works. Some drivers report a lost device as out of resources. */
async function isResponsive(device: Device): Promise<boolean> {
  const { queue, pool } = device;
  try {
    const buffer = pool.take(4);
    const [asked, answered] = [Uint32Array.of(0x600df00d), new Uint32Array(1)];
    queue.write(buffer, asked);
    queue.read(buffer, answered);
    await queue.finish(deadlineOf(device));
    pool.give(buffer);
    return answered[0] === asked[0];
  } catch {
    return false;
  }
}

/**
 * Runs all cases.
 *
 * @returns what went wrong, or undefined
 * @throws DeviceLostError or MemoryError when the device failed
 */
async function runSelfTest(algorithm: Algorithm, defersStress: boolean): Promise<string | undefined> {
  const started = performance.now();
  const isOverBudget = () => performance.now() - started > BUDGET_SECONDS * 1000;
  const { keyBits } = algorithm.shape;
  const plain = UNSIGNED[keyBits];
  const odd = NON_IDENTITY_CODEC[keyBits];
  const sizes = sizesOf(algorithm);
  const cases: SortCase[] = sizes.flatMap((n): SortCase[] => [
    { dtype: odd, order: { descending: true, nan: 'first' }, n, pattern: 'random' },
    { dtype: plain, order: {}, n, pattern: 'few' },
    ...(ORDERED_SIZES.includes(n) ? orderedCases(plain, odd, n) : []),
  ]);
  const { bySegments, waits } = algorithmNamed(algorithm.name);
  if (bySegments) {
    // Segments come first, in case the budget is used up: whole arrays are the minor use of these variants.
    const { longest } = algorithm;
    if (longest !== undefined) cases.length = 0;
    cases.unshift(
      ...sizes.flatMap((n): SortCase[] => [
        { dtype: odd, order: { descending: true }, n, pattern: 'random', ends: mixedEnds(n, n, longest) },
        { dtype: plain, order: {}, n, pattern: 'few', ends: mixedEnds(n, n + 1, longest) },
      ]),
    );
  }
  const stress = defersStress ? firstStressCases(algorithm) : stressCases(algorithm);
  return reasonOf(async () => {
    for (const [i, testCase] of [...cases, ...stress].entries()) {
      if (testCase.n > 257 && isOverBudget()) break;
      const wrong = await testAlone(algorithm, testCase, i + 1);
      if (wrong) return wrong;
    }
    const concurrent = defersStress ? stress.slice(0, 1) : stress;
    return waits && stress.length > 0 ? testConcurrently(algorithm, concurrent, isOverBudget) : undefined;
  });
}

/**
 * Runs the stress rounds of a variant that is in use, one for each `next()`. Returns the record, which is stored: the
 * variant must not be used again if it is not ok.
 *
 * @throws DeviceLostError or MemoryError when the device failed; the rounds are due again then
 */
export async function* stressTest(algorithm: Algorithm): AsyncGenerator<void, SelfTestRecord> {
  const stress = stressCases(algorithm);
  const parts = partsOf(algorithm.device.info, algorithm.name, algorithm.shape);
  for (const [i, testCase] of stress.entries()) {
    const reason = await reasonOf(() => testAlone(algorithm, testCase, 100 + i));
    if (reason !== undefined) return storeSelfTestRecord(parts, reason);
    yield;
  }
  const { waits } = algorithmNamed(algorithm.name);
  const reason = await reasonOf(async () =>
    waits ? testConcurrently(algorithm, stress, () => false) : undefined,
  );
  return storeSelfTestRecord(parts, reason);
}

/** Returns the reason why a test failed, if it did. @throws DeviceLostError or MemoryError when the device failed */
async function reasonOf(test: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await test();
  } catch (error) {
    if (error instanceof TimeoutError) throw new DeviceLostError(error.message, { cause: error });
    if (!(error instanceof ClsortError)) throw error;
    if (error instanceof DeviceLostError || error instanceof MemoryError) throw error;
    return error.message;
  }
}

/** Returns the numbers of keys that a variant supports, ascending. */
function sizesOf(algorithm: Algorithm): number[] {
  const { keyBits, valueBytes } = algorithm.shape;
  const request = { dtype: UNSIGNED[keyBits], bits: windowOf(algorithm.shape), valueBytes };
  return SIZES.filter((n) => algorithm.supports({ ...request, n }) === true);
}

/** An array that is ascending, and one that is strictly descending in the order of the case. */
const orderedCases = (plain: Dtype, odd: Dtype, n: number): SortCase[] => [
  { dtype: plain, order: {}, n, pattern: 'ascending' },
  { dtype: odd, order: { descending: true }, n, pattern: 'ascending' },
];

/** Returns the stress rounds; none for variants that only sort segments. */
function stressCases(algorithm: Algorithm): SortCase[] {
  if (algorithm.longest !== undefined) return [];
  const dtype = UNSIGNED[algorithm.shape.keyBits];
  const largest = sizesOf(algorithm).at(-1) ?? 0;
  return Array.from({ length: STRESS_ROUNDS }, (_, round): SortCase => {
    const n = largest - round * Math.floor(largest / (2 * STRESS_ROUNDS));
    return { dtype, order: {}, n, pattern: STRESS_PATTERNS[round % STRESS_PATTERNS.length] ?? 'random' };
  });
}

/** Returns one round of each pattern, with fewer keys, to be tested before the first use. */
const firstStressCases = (algorithm: Algorithm): SortCase[] =>
  stressCases(algorithm)
    .slice(0, STRESS_PATTERNS.length)
    .map((one) => ({ ...one, n: Math.min(one.n, MAX_KEYS_BEFORE_STRESS) }));

/**
 * Sorts one case and checks it.
 *
 * @returns what went wrong, or undefined
 */
async function testAlone(
  algorithm: Algorithm,
  testCase: SortCase,
  seed: number,
): Promise<string | undefined> {
  const { device } = algorithm;
  const { queue } = device;
  const trial = enqueueCase(algorithm, queue, await prepareCase(algorithm, testCase, seed));
  try {
    await queue.finish(deadlineOf(device));
    const wrong = trial.gaveUp ?? trial.wrong();
    return wrong && `${testCase.n} ${testCase.pattern} ${testCase.dtype} keys: ${wrong}`;
  } finally {
    trial.release();
  }
}

/**
 * Sorts in two queues at a time, whose work-groups compete for the device. A sort that waits too long may give up, and
 * the caller then uses another algorithm. It must neither return a wrong result nor hang.
 */
async function testConcurrently(
  algorithm: Algorithm,
  cases: readonly SortCase[],
  isOverBudget: () => boolean,
): Promise<string | undefined> {
  const { device, name, shape } = algorithm;
  const rival = await algorithmNamed(name).create(device, shape);
  await device.queue.finish(deadlineOf(device)); // initial contents of the rival's buffers
  return device.withSecondQueue(async (second) => {
    for (const [i, testCase] of cases.entries()) {
      if (i > 0 && isOverBudget()) break;
      const sides = [
        { algorithm, queue: device.queue },
        { algorithm: rival, queue: second },
      ];
      const prepared = await Promise.all(
        sides.map(({ algorithm: own }, side) => prepareCase(own, testCase, 1000 + 2 * i + side)),
      );
      const trials: Trial[] = [];
      try {
        for (const [side, { algorithm: own, queue }] of sides.entries()) {
          trials.push(enqueueCase(own, queue, prepared[side] as PreparedCase));
          queue.submit(); // both queues set the arguments of the same kernels
        }
        await Promise.all(sides.map(({ queue }) => queue.finish(deadlineOf(device))));
        const wrong = trials.find((trial) => !trial.gaveUp && trial.wrong())?.wrong();
        if (wrong)
          return `${testCase.n} ${testCase.pattern} ${testCase.dtype} keys beside another sort: ${wrong}`;
      } finally {
        // The pool would hand out to one queue what the other still uses.
        await second.finish(deadlineOf(device)).catch(() => undefined);
        for (const trial of trials) trial.release();
      }
    }
    return undefined;
  });
}

interface SortCase {
  readonly dtype: Dtype;
  readonly order: Order;
  readonly n: number;
  readonly pattern: Pattern;
  /** End of each segment that is sorted separately; missing for a whole array. */
  readonly ends?: readonly number[];
}

/** Segment lengths at which one kernel hands over to the next, on some device. */
const SEGMENT_BOUNDS = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

/**
 * Returns segment ends for a mix of lengths: empty, short, around each bound, and a long rest if the variant permits
 * it.
 */
function mixedEnds(n: number, seed: number, longest = n): number[] {
  const random = new Random(seed);
  const mix = [0, 1, 0, 2, ...SEGMENT_BOUNDS.flatMap((bound) => [bound, bound + 1, random.below(bound), 0])];
  const lengths = mix.filter((length) => length <= longest);
  const ends: number[] = [];
  for (let end = 0, i = 0; end < n; i = (i + 1) % lengths.length) {
    end = Math.min(n, end + (lengths[i] as number));
    ends.push(end);
    if (end > n / 2 && n - end <= longest) break;
  }
  return [...ends, n];
}

type Pattern = 'random' | 'few' | 'constant' | 'runs' | 'ascending';

/** Consecutive equal bytes in pattern 'runs'. */
const RUN_BYTES = 256;

/** The longest random bytes so far: generating them takes longer than sorting them. */
let randomBytes = new Uint8Array();

/** Returns the numbers 0, 2, 4, … in `unit` bytes each: those of a window without the lowest bit also ascend. */
function ascendingBytes(length: number, unit: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0, at = 0; at < length; i++, at += unit)
    for (let k = 0; k < Math.min(unit, 4); k++) bytes[at + k] = (2 * i) >>> (8 * k);
  return bytes;
}

/** Returns test data, aligned to 8 bytes; different for each seed up to 2^16. */
function testBytes(length: number, pattern: Pattern, seed: number, unit = 1): Uint8Array {
  if (pattern === 'ascending') return ascendingBytes(length, unit);
  if (pattern === 'constant') return new Uint8Array(length).fill(0xff);
  const begin = 8 * seed;
  const aligned = Math.ceil(length / 4) * 4;
  if (randomBytes.length < begin + aligned) randomBytes = new Random(0).bytes(begin + aligned);
  const bytes = randomBytes.slice(begin, begin + aligned);
  if (pattern === 'few') {
    const words = new Uint32Array(bytes.buffer);
    for (let i = 0; i < words.length; i++) words[i] = (words[i] as number) & 0x01010101;
  } else if (pattern === 'runs') {
    for (let i = 0; i < length; i += RUN_BYTES) bytes.fill(bytes[i] as number, i, i + RUN_BYTES);
  }
  return bytes.subarray(0, length);
}

/** The data of a case, and what the host engine makes of them. */
interface PreparedCase {
  readonly testCase: SortCase;
  readonly keys: HostColumn;
  readonly values: Uint8Array;
  readonly offsets: Uint32Array | undefined;
  readonly expected: { readonly sorted: Uint8Array; readonly moved: Uint8Array };
}

async function prepareCase({ shape }: Algorithm, testCase: SortCase, seed: number): Promise<PreparedCase> {
  const { valueBytes } = shape;
  const { dtype, order, n, pattern, ends } = testCase;
  const unit = dtypeInfo(dtype).bytes;
  const keys = keyColumn(testBytes(n * unit, pattern, seed, unit), dtype);
  const values = testBytes(n * valueBytes, 'random', seed + 99);
  const offsets = ends && Uint32Array.of(0, ...ends);
  const expected = { sorted: new Uint8Array(n * keys.info.bytes), moved: new Uint8Array(values.length) };
  const withValues = valueBytes > 0 && {
    values: { place: values, bytes: valueBytes },
    moved: expected.moved,
  };
  await nativeSort(
    keys,
    { ...order, bits: windowOf(shape) },
    { sorted: expected.sorted, ...withValues },
    { segments: offsets && { offsets: { n: offsets.length, place: offsets } } },
  );
  return { testCase, keys, values, offsets, expected };
}

/** Uploads, enqueues a sort, and returns a trial that compares with the host engine. */
function enqueueCase(
  algorithm: Algorithm,
  queue: Queue,
  { testCase: { dtype, order, n, ends }, keys, values, offsets, expected }: PreparedCase,
): Trial {
  const { device, shape, longest } = algorithm;
  const { pool } = device;
  const sorted = new Uint8Array(expected.sorted.length);
  const moved = new Uint8Array(expected.moved.length);
  const releases: (() => void)[] = [];
  const take = (view: ArrayBufferView): DeviceBuffer => {
    const buffer = pool.take(Math.max(4, view.byteLength));
    releases.push(() => pool.give(buffer));
    return buffer;
  };
  const release = () => {
    for (const give of releases.splice(0)) give();
  };
  const wrong = () => {
    if (Buffer.compare(sorted, expected.sorted) !== 0) return 'keys are wrong';
    const { stable } = algorithmNamed(algorithm.name);
    const same = stable
      ? Buffer.compare(moved, expected.moved) === 0
      : samePairs(n, [sorted, moved], [expected.sorted, expected.moved]);
    return same ? undefined : 'values were separated from their keys';
  };
  try {
    const [input, output] = [take(keys.view), take(sorted)];
    const [inputValues, outputValues] = [take(values), take(moved)];
    queue.write(input, keys.view);
    queue.write(inputValues, values);
    const begins = offsets && take(offsets);
    if (begins && offsets) queue.write(begins, offsets);
    const after = () => {
      queue.read(output, sorted);
      queue.read(outputValues, moved);
    };
    const work = {
      n,
      input,
      output,
      ...(shape.valueBytes > 0 && { inputValues, outputValues }),
      codec: keyCodec(dtype, order),
      bits: windowOf(shape),
      ...(begins &&
        ends && { segments: { offsets: begins, count: ends.length, ...(longest && { longest }) } }),
    };
    return enqueueTrial(algorithm, queue, work, { after, wrong, release });
  } catch (error) {
    release();
    throw error;
  }
}

/** Whether each key has the same values in both results, in any order. */
function samePairs(
  n: number,
  a: readonly [Uint8Array, Uint8Array],
  b: readonly [Uint8Array, Uint8Array],
): boolean {
  const pairs = (columns: readonly Uint8Array[]) =>
    Array.from({ length: n }, (_, i) =>
      columns
        .map((bytes) => bytes.subarray((i * bytes.length) / n, ((i + 1) * bytes.length) / n).join())
        .join('|'),
    ).toSorted();
  const others = pairs(b);
  return pairs(a).every((pair, i) => pair === others[i]);
}
