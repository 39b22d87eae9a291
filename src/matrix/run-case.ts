import { algorithmNamed } from '../algorithms/registry.js';
import type { DeviceInfo } from '../device/platform.js';
import { keyColumn } from '../keys/array.js';
import { dtypeInfo } from '../keys/dtype.js';
import type { Sorter } from '../sort/api/sorter.js';
import { hostGather, hostSort } from '../sort/host/host-sort.js';
import { MismatchError, UnsupportedError } from '../util/errors.js';
import { Random } from '../util/random.js';
import type { MatrixCase } from './case.js';
import type { MatrixRow, Outcome } from './row.js';

const same = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.compare(
    new Uint8Array(a.buffer, a.byteOffset, a.byteLength),
    new Uint8Array(b.buffer, b.byteOffset, b.byteLength),
  ) === 0;

/** Sorts one case on the device and on the host, and compares bit by bit. */
async function agrees(sorter: Sorter, { algorithm, dtype, n, form, descending, seed }: MatrixCase) {
  const { bytes } = dtypeInfo(dtype);
  const keys = new Random(seed).bytes(n * bytes);
  const options = { dtype, algorithm, descending, onWarning: () => undefined };
  const sorted = new Uint8Array(keys.length);
  const positions = new Uint32Array(n);
  hostSort(keyColumn(keys, dtype), { descending }, { sorted, moved: positions });
  if (form === 'keys') return same(await sorter.sort(keys, options), sorted);
  const rightPlaces = (places: Uint32Array): boolean => {
    if (algorithmNamed(algorithm).stable) return same(places, positions);
    const moved = new Uint8Array(keys.length);
    if (places.some((place) => place >= n) || new Set(places).size !== n) return false;
    hostGather(keys, places, bytes, moved);
    return same(moved, sorted);
  };
  if (form === 'argsort') return rightPlaces(await sorter.argsort(keys, options));
  const values = Uint32Array.from({ length: n }, (_, i) => i);
  const pairs = await sorter.sortPairs(keys, values, options);
  return same(pairs.keys, sorted) && rightPlaces(pairs.values);
}

/** One row; never throws. */
export async function runCase(sorter: Sorter, device: DeviceInfo, one: MatrixCase): Promise<MatrixRow> {
  const started = performance.now();
  const row = (outcome: Outcome, reason?: string): MatrixRow => ({
    schema: 'clsort.matrix/1',
    platform: device.platform,
    device: device.name,
    driver: device.driver,
    ...one,
    outcome,
    ...(reason !== undefined && { reason }),
    seconds: Math.round(performance.now() - started) / 1000,
  });
  try {
    return (await agrees(sorter, one)) ? row('ok') : row('wrong', 'differs from the host engine');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof UnsupportedError) return row('unsupported', reason);
    return row(error instanceof MismatchError ? 'wrong' : 'error', reason);
  }
}
