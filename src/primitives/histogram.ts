import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import { UnsupportedError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { buildForGroups, gridStrideGroups } from './group.js';

const MAX_BINS = 65_536;

/** Assignment of keys to bins. */
export type Binning =
  | {
      /** The digit of the code in [begin, end): 2^(end - begin) bins. */ readonly bits: readonly [
        number,
        number,
      ];
    }
  | {
      /** Codes of the edges, one more than bins, ascending. */ readonly edges: readonly bigint[];
    };

/** A histogram of keys in device memory. */
export interface HistogramWork {
  readonly keys: Buffer;
  /** Fewer than 2^32: counters have 32 bits. */
  readonly n: number;
  readonly dtype: Dtype;
  readonly binning: Binning;
}

/**
 * Enqueues a histogram by atomics on counters in global memory, for any number of bins up to 65,536.
 *
 * Complexity: one launch; every key is read once.
 *
 * @returns a function that returns the counts; call it when the queue has finished
 * @throws UnsupportedError, UsageError
 */
export async function enqueueGlobalHistogram(
  device: Device,
  { keys, n, dtype, binning }: HistogramWork,
): Promise<() => Uint32Array> {
  const bins = binsOf(binning);
  if (n >= 2 ** 32) throw new UnsupportedError(`cannot count ${n} keys: counters have 32 bits`);
  const info = dtypeInfo(dtype);
  const shape = { KEY_BITS: info.width, VALUE_BYTES: 0 };
  const { program, groupSize } = await buildForGroups(device, 'histogram.cl', ['histogram_global'], shape);
  const result = new Uint32Array(bins);
  const byEdges = 'edges' in binning;
  const edgeBytes = byEdges ? binning.edges.length * info.bytes : 4;
  const { queue, pool } = device;
  pool.withBuffers([bins * 4, edgeBytes], (counts, edges) => {
    if (byEdges) queue.write(edges, codeWords(binning.edges, info));
    queue.fill(counts, 0, { bytes: bins * 4 });
    const how = [u64(n), u32(bins), u32(byEdges ? 0 : binning.bits[0]), u32(byEdges ? 1 : 0)];
    const args = [keys, counts, edges, ...how, codecArgument(keyCodec(dtype))];
    const global = gridStrideGroups(device, n, groupSize) * groupSize;
    queue.run(program.kernel('histogram_global'), args, { global, local: groupSize });
    queue.read(counts, result);
  });
  return () => result;
}

const binsOf = (binning: Binning): number => {
  const byEdges = 'edges' in binning;
  const bins = byEdges ? binning.edges.length - 1 : 2 ** (binning.bits[1] - binning.bits[0]);
  const minBins = byEdges ? 1 : 2;
  if (bins < minBins || bins > MAX_BINS) {
    throw invalidArgument('bins', `a whole number from ${minBins} to ${MAX_BINS}`, bins);
  }
  return bins;
};

/** Converts codes to words of a key's width. */
export function codeWords(codes: readonly bigint[], { bytes }: DtypeInfo): ArrayBufferView {
  if (bytes === 8) return BigUint64Array.from(codes);
  const numbers = codes.map(Number);
  if (bytes === 4) return Uint32Array.from(numbers);
  return bytes === 2 ? Uint16Array.from(numbers) : Uint8Array.from(numbers);
}
