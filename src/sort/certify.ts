import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Algorithm } from '../algorithms/algorithm.js';
import { algorithmNamed } from '../algorithms/registry.js';
import { enqueueWithScratch } from '../algorithms/run.js';
import { keyColumn } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { keyCodec, type Order } from '../keys/key-codec.js';
import { addToCache, readCache } from '../util/cache.js';
import { ClsortError } from '../util/errors.js';
import { packageRoot } from '../util/paths.js';
import { hostSort } from './host-sort.js';

const FILE = 'certified.json';

/** What the self-test of a variant found: it may be used, or why not. */
export interface Certificate {
  readonly ok: boolean;
  readonly reason?: string;
  /** Day of the test, ISO. */
  readonly date: string;
}

/** Numbers of keys, in the order in which they are tried: until one is too many or time is up. */
const SIZES = [1, 2, 32, 64, 257, 1_000, 4_000, 8_192, 70_001, 300_007];

/** Sorts of the largest size that follow, for variants whose work-groups hand data to each other. */
const STRESS_ROUNDS = 8;

/** Seconds that a self-test may take before it ends with what it has seen; sizes up to 257 always run. */
const BUDGET = 1;

/** Seconds after which a self-test counts as hung. */
const DEADLINE = 20;

const UNSIGNED = { 8: 'u8', 16: 'u16', 32: 'u32', 64: 'u64' } as const satisfies Record<number, Dtype>;
const ODD_ORDER = { 8: 'i8', 16: 'f16', 32: 'f32', 64: 'f64' } as const satisfies Record<number, Dtype>;

let hash: string | undefined;

/** Changes with every kernel and with the package, so that an old certificate never serves new code. */
function sourceHash(): string {
  if (hash === undefined) {
    const sum = createHash('sha256');
    const folder = join(packageRoot, 'cl');
    for (const file of readdirSync(folder).toSorted()) sum.update(readFileSync(join(folder, file)));
    sum.update(readFileSync(join(packageRoot, 'package.json')));
    hash = sum.digest('hex').slice(0, 16);
  }
  return hash;
}

function certificateKey({ name, shape, device }: Algorithm): string {
  const { platform, name: deviceName, driver } = device.info;
  const tuning = JSON.stringify(Object.entries(shape.tuning ?? {}).toSorted());
  return [platform, deviceName, driver, sourceHash(), name, shape.keyBits, shape.valueBytes, tuning].join(
    ' | ',
  );
}

/**
 * Says whether a compiled variant may be used on its device: by the certificate on disk, else by a
 * self-test against the host engine whose result is kept.
 *
 * Other libraries lose keys on some drivers; here a variant has to show that it works before a user's
 * data passes through it.
 *
 * @param again test even when there is a certificate
 */
export async function certify(algorithm: Algorithm, { again = false } = {}): Promise<Certificate> {
  const key = certificateKey(algorithm);
  const known = readCache(FILE)[key] as Certificate | undefined;
  if (known && !again) return known;
  const reason = await selfTest(algorithm);
  const certificate: Certificate = {
    ok: reason === undefined,
    ...(reason !== undefined && { reason }),
    date: new Date().toISOString().slice(0, 10),
  };
  addToCache(FILE, { [key]: certificate });
  return certificate;
}

/** @returns what went wrong, or undefined */
async function selfTest(algorithm: Algorithm): Promise<string | undefined> {
  const started = performance.now();
  const { keyBits, valueBytes } = algorithm.shape;
  const plain = UNSIGNED[keyBits];
  const odd = ODD_ORDER[keyBits];
  const sizes = SIZES.filter(
    (n) => algorithm.supports({ dtype: plain, n, bits: [0, keyBits], valueBytes, stable: false }) === true,
  );
  const largest = sizes.at(-1) ?? 0;
  const tries: Try[] = [
    ...sizes.flatMap((n): Try[] => [
      { dtype: odd, order: { descending: true, nan: 'first' }, n, pattern: 'random' },
      { dtype: plain, order: {}, n, pattern: 'few' },
    ]),
    ...Array.from({ length: STRESS_ROUNDS }, (_, round): Try => {
      const n = largest - round * Math.floor(largest / (2 * STRESS_ROUNDS));
      return { dtype: plain, order: {}, n, pattern: round % 2 ? 'random' : 'constant' };
    }),
  ];
  for (const [i, one] of tries.entries()) {
    if (one.n > 257 && performance.now() - started > BUDGET * 1000) break;
    const wrong = await tryOne(algorithm, one, i + 1);
    if (wrong) return `${one.n} ${one.pattern} ${one.dtype} keys: ${wrong}`;
  }
  return undefined;
}

interface Try {
  readonly dtype: Dtype;
  readonly order: Order;
  readonly n: number;
  readonly pattern: Pattern;
}

type Pattern = 'random' | 'few' | 'constant';

function testBytes(length: number, pattern: Pattern, seed: number): Uint8Array {
  let state = Math.imul(seed, 0x9e3779b9) | 1;
  return Uint8Array.from({ length }, () => {
    if (pattern === 'constant') return 0xff;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return pattern === 'few' ? state & 1 : state & 0xff;
  });
}

async function tryOne(
  algorithm: Algorithm,
  { dtype, order, n, pattern }: Try,
  seed: number,
): Promise<string | undefined> {
  const { device, shape } = algorithm;
  const { bytes, width } = dtypeInfo(dtype);
  const { queue, pool } = device;
  const keys = keyColumn(testBytes(n * bytes, pattern, seed), dtype);
  const values = testBytes(n * shape.valueBytes, 'random', seed + 99);
  const sorted = new Uint8Array(n * bytes);
  const moved = new Uint8Array(values.length);
  const taken = [keys.view, sorted, values, moved].map((view) => pool.take(Math.max(4, view.byteLength)));
  const [input, output, inputValues, outputValues] = taken;
  if (!input || !output || !inputValues || !outputValues) return 'no memory';
  let release: (() => void) | undefined;
  try {
    queue.write(input, keys.view);
    queue.write(inputValues, values);
    // A place that is never written must not look right by what was there before.
    queue.fill(output, 0xa5a5a5a5, { bytes: Math.floor(output.bytes / 4) * 4 });
    const enqueued = enqueueWithScratch(algorithm, queue, {
      n,
      input,
      output,
      ...(shape.valueBytes > 0 && { inputValues, outputValues }),
      codec: keyCodec(dtype, order),
      bits: [0, width],
    });
    release = enqueued.release;
    const status = new Uint32Array(1);
    if (enqueued.status) queue.read(enqueued.status, status);
    queue.read(output, sorted);
    queue.read(outputValues, moved);
    await queue.finish(DEADLINE);
    if (status[0] !== 0) return 'its work-groups waited for each other in vain';
  } catch (error) {
    if (error instanceof ClsortError) return error.message;
    throw error;
  } finally {
    release?.();
    for (const buffer of taken) pool.give(buffer);
  }
  const expected = new Uint8Array(sorted.length);
  const expectedValues = new Uint8Array(moved.length);
  hostSort(keys, order, {
    sorted: expected,
    ...(shape.valueBytes > 0 && {
      values: { view: values, bytes: shape.valueBytes },
      moved: expectedValues,
    }),
  });
  if (Buffer.compare(sorted, expected) !== 0) return 'keys are wrong';
  const { stable } = algorithmNamed(algorithm.name);
  const same = stable
    ? Buffer.compare(moved, expectedValues) === 0
    : samePairs(n, [sorted, moved], [expected, expectedValues]);
  return same ? undefined : 'values do not stand beside their keys';
}

/** Does each key have the same values beside it, in whatever order? */
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
