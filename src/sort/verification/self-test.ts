import type { Algorithm, AlgorithmShape } from '../../algorithms/algorithm.js';
import { algorithmNamed } from '../../algorithms/registry.js';
import { enqueueTrial, type Trial } from '../../algorithms/trial.js';
import type { Device } from '../../device/device.js';
import type { Buffer as DeviceBuffer } from '../../device/memory/buffer.js';
import type { DeviceInfo } from '../../device/platform/platform.js';
import type { Queue } from '../../device/queue/queue.js';
import { keyCodec } from '../../keys/key-codec.js';
import { ClsortError, DeviceLostError, MemoryError, TimeoutError, UsageError } from '../../util/errors.js';
import { publishPreparation } from '../../util/preparation-channel.js';
import {
  readSelfTestRecord,
  type SelfTestKey,
  type SelfTestRecord,
  storeSelfTestRecord,
} from '../../util/self-test-records.js';
import {
  CaseData,
  casesOf,
  hasStressCases,
  type PreparedCase,
  type SeededCase,
  stressCasesOf,
  type TestCases,
  windowOf,
} from './self-test-cases.js';

/** Seconds after which a self-test ends with the cases that have passed; sizes up to 257 always run. */
const BUDGET_SECONDS = 1;

/**
 * Milliseconds after which a self-test counts as hung and the device is abandoned with all its memory. A CPU device compiles
 * a kernel at its first launch, which took rusticl more than a minute under load.
 */
const DEADLINE_MS = 60_000;
const CPU_DEADLINE_MS = 300_000;

const deadlineOf = ({ info }: Device): number => (info.type === 'cpu' ? CPU_DEADLINE_MS : DEADLINE_MS);

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
 * @param options.data data of the cases; default: those of each case are prepared when it runs
 * @throws DeviceLostError when the device failed or the self-test exceeded its deadline
 */
export async function selfTest(
  algorithm: Algorithm,
  {
    again = false,
    defersStress = false,
    data = new CaseData(algorithm.shape),
  }: { readonly again?: boolean; readonly defersStress?: boolean; readonly data?: CaseData } = {},
): Promise<SelfTestRecord> {
  const parts = partsOf(algorithm.device.info, algorithm.name, algorithm.shape);
  const key = parts.join(' | ');
  const known = readSelfTestRecord(parts);
  if (known && !again && (defersStress || !known.stressIsDue)) return known;
  const store = (reason: string | undefined): SelfTestRecord => {
    if (reason !== undefined && algorithm.device.closed)
      throw new UsageError('cannot complete a self-test: its device is closed');
    failedOnce.delete(key);
    const stressIsDue = defersStress && reason === undefined && hasStressCases(algorithm);
    return storeSelfTestRecord(parts, reason, { stressIsDue });
  };
  for (;;) {
    try {
      const run = () => runSelfTest(algorithm, defersStress, data);
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
async function runSelfTest(
  algorithm: Algorithm,
  defersStress: boolean,
  data: CaseData,
): Promise<string | undefined> {
  const started = performance.now();
  const isOverBudget = () => performance.now() - started > BUDGET_SECONDS * 1000;
  const { alone, pairs } = casesOf(algorithm, defersStress);
  return reasonOf(async () => {
    for (let i = 0; i < alone.length; ) {
      const magnitude = magnitudeOf(alone[i] as SeededCase);
      if (magnitude > 0 && isOverBudget()) break;
      const end = alone.findIndex((one, j) => j > i && magnitudeOf(one) !== magnitude);
      const cases = alone.slice(i, end < 0 ? undefined : end);
      const wrong = await testInOrder(algorithm, cases, data);
      if (wrong) return wrong;
      i += cases.length;
    }
    return testConcurrently(algorithm, pairs, data, isOverBudget);
  });
}

/**
 * Runs the stress rounds of a variant that is in use, one for each `next()`. Returns the record, which is stored: the
 * variant must not be used again if it is not ok.
 *
 * @throws DeviceLostError or MemoryError when the device failed; the rounds are due again then
 */
export async function* stressTest(algorithm: Algorithm): AsyncGenerator<void, SelfTestRecord> {
  const { alone, pairs } = stressCasesOf(algorithm);
  const data = new CaseData(algorithm.shape);
  const parts = partsOf(algorithm.device.info, algorithm.name, algorithm.shape);
  for (const one of alone) {
    const reason = await reasonOf(() => testInOrder(algorithm, [one], data));
    if (reason !== undefined) return storeSelfTestRecord(parts, reason);
    yield;
  }
  const reason = await reasonOf(() => testConcurrently(algorithm, pairs, data, () => false));
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

/** Returns the order of magnitude of the number of keys: 0 for sizes that always run. */
const magnitudeOf = ({ testCase: { n } }: SeededCase): number =>
  n <= 257 ? 0 : Math.ceil(Math.log2(n / 257));

/**
 * Sorts cases one after the other, waits once, and checks them.
 *
 * @returns what went wrong first, or undefined
 */
async function testInOrder(
  algorithm: Algorithm,
  cases: readonly SeededCase[],
  data: CaseData,
): Promise<string | undefined> {
  const { device } = algorithm;
  const { queue } = device;
  const trials: Trial[] = [];
  try {
    for (const one of cases) trials.push(enqueueCase(algorithm, queue, await data.take(one)));
    await queue.finish(deadlineOf(device));
    for (const [i, trial] of trials.entries()) {
      const wrong = trial.gaveUp ?? trial.wrong();
      const { n, pattern, dtype } = (cases[i] as SeededCase).testCase;
      if (wrong) return `${n} ${pattern} ${dtype} keys: ${wrong}`;
    }
    return undefined;
  } finally {
    for (const trial of trials) trial.release();
  }
}

/**
 * Sorts in two queues at a time, whose work-groups compete for the device. A sort that waits too long may give up, and
 * the caller then uses another algorithm. It must neither return a wrong result nor hang.
 */
async function testConcurrently(
  algorithm: Algorithm,
  pairs: TestCases['pairs'],
  data: CaseData,
  isOverBudget: () => boolean,
): Promise<string | undefined> {
  if (pairs.length === 0) return undefined;
  const { device, name, shape } = algorithm;
  const rival = await algorithmNamed(name).create(device, shape);
  await device.queue.finish(deadlineOf(device)); // initial contents of the rival's buffers
  return device.withSecondQueue(async (second) => {
    for (const [i, pair] of pairs.entries()) {
      if (i > 0 && isOverBudget()) break;
      const sides = [
        { algorithm, queue: device.queue },
        { algorithm: rival, queue: second },
      ];
      const prepared = await Promise.all(pair.map((one) => data.take(one)));
      const { testCase } = pair[0];
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

/** Uploads, enqueues a sort, and returns a trial that compares with the host engine. */
function enqueueCase(
  algorithm: Algorithm,
  queue: Queue,
  { testCase: { dtype, order, n, ends, row }, keys, values, offsets, expected }: PreparedCase,
): Trial {
  const { device, shape } = algorithm;
  const most = row ?? algorithm.longest;
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
    const begins = row === undefined && offsets ? take(offsets) : undefined;
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
      ...(ends && {
        segments: { ...(begins && { offsets: begins }), count: ends.length, ...(most && { longest: most }) },
      }),
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
