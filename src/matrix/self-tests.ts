import { type AlgorithmFactory, type AlgorithmShape, tunedShape } from '../algorithms/algorithm.js';
import { ALGORITHMS, algorithmNamed } from '../algorithms/registry.js';
import { Device } from '../device/device.js';
import type { DeviceInfo } from '../device/platform/platform.js';
import { selfTest } from '../sort/verification/self-test.js';
import { distinct } from '../util/distinct.js';
import { BuildError, ClsortError, DeviceLostError, TimeoutError, UnsupportedError } from '../util/errors.js';
import type { MatrixRow } from './row.js';

/** The shapes that most sorts need. */
export const VARIANTS = {
  u32: { keyBits: 32, valueBytes: 0 },
  u64: { keyBits: 64, valueBytes: 0 },
  'u32 + 4 bytes': { keyBits: 32, valueBytes: 4 },
} as const satisfies Record<string, AlgorithmShape>;

export type Variant = keyof typeof VARIANTS;

/** Numbers of keys that cover the differently tuned size ranges of an algorithm. */
export const SIZES = [2 ** 10, 2 ** 14, 2 ** 18, 2 ** 22, 2 ** 26];

/** One cell in the table of a device. */
export interface SelfTestCase {
  readonly algorithm: string;
  readonly variant: Variant;
}

export interface SelfTestRow
  extends SelfTestCase,
    Pick<MatrixRow, 'platform' | 'device' | 'driver' | 'seconds'> {
  /** `unsupported` by design; `failed` its self-test; `crash` of its process; `timeout`. */
  readonly outcome: 'passed' | 'failed' | 'unsupported' | 'crash' | 'timeout';
  /** Reason, for every outcome other than `passed`. */
  readonly reason?: string;
}

export const hasFailed = ({ outcome }: Pick<SelfTestRow, 'outcome'>): boolean =>
  outcome !== 'passed' && outcome !== 'unsupported';

/** Returns every algorithm with each variant, in a fixed order. */
export function selfTestCases(algorithms?: readonly string[]): SelfTestCase[] {
  const names = algorithms?.map((name) => algorithmNamed(name).name) ?? ALGORITHMS.map(({ name }) => name);
  const variants = Object.keys(VARIANTS) as Variant[];
  return names.flatMap((algorithm) => variants.map((variant) => ({ algorithm, variant })));
}

/** Returns the distinct shapes that the planner may request, or the reason why there is none. */
function shapesOf(
  factory: AlgorithmFactory,
  device: Device,
  shape: AlgorithmShape,
): AlgorithmShape[] | string {
  const tuned = [
    ...SIZES.map((n) => tunedShape(factory, device, shape, n)),
    ...(factory.bounds ?? []).flatMap((longest) =>
      [false, true].map((areRows) => tunedShape(factory, device, shape, 2 ** 20, { longest, areRows })),
    ),
  ];
  const shapes = tuned.filter((one) => typeof one !== 'string');
  if (shapes.length === 0) return String(tuned[0]);
  return distinct(shapes);
}

/**
 * Repeats the self-tests of one cell, ignoring stored records.
 *
 * @returns the reason of the first failure; undefined when all pass
 * @throws ClsortError when a variant cannot be built or run
 */
async function runSelfTests(
  device: Device,
  { algorithm, variant }: SelfTestCase,
): Promise<string | undefined> {
  const factory = algorithmNamed(algorithm);
  const shapes = shapesOf(factory, device, VARIANTS[variant]);
  if (typeof shapes === 'string') throw new UnsupportedError(shapes);
  for (const shape of shapes) {
    const { ok, reason } = await selfTest(await factory.create(device, shape), { again: true });
    if (!ok) return reason ?? 'unknown reason';
  }
  return undefined;
}

/** Runs the cases in this process. A lost device is reopened. */
export async function* selfTestDevice(
  info: DeviceInfo,
  cases: readonly SelfTestCase[],
): AsyncGenerator<SelfTestRow> {
  let device = await Device.open(info.id);
  try {
    for (const one of cases) {
      const started = performance.now();
      const row = (outcome: SelfTestRow['outcome'], reason?: string): SelfTestRow => ({
        platform: info.platform,
        device: info.name,
        driver: info.driver,
        ...one,
        outcome,
        ...(reason !== undefined && { reason }),
        seconds: Math.round(performance.now() - started) / 1000,
      });
      try {
        const reason = await runSelfTests(device, one);
        yield row(reason === undefined ? 'passed' : 'failed', reason);
      } catch (error) {
        if (!(error instanceof ClsortError)) throw error;
        if (error instanceof DeviceLostError || error instanceof TimeoutError) {
          await device.abandon();
          device = await Device.open(info.id);
        }
        // A compiler log can fill pages.
        const [reason = ''] = error instanceof BuildError ? error.message.split('\n') : [error.message];
        yield row(error instanceof UnsupportedError ? 'unsupported' : 'failed', reason);
      }
    }
  } finally {
    await device.close();
  }
}
