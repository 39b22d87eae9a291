import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import { buildForGroups, gridStrideGroups } from './group.js';

/** Bits of a digit of a radix select. More bits leave fewer keys for the next digit, but their counters fit no cache. */
export const SELECT_BITS = 11;

/** 64-bit numbers that cl/rank_select.cl keeps for each pass and rank: the first is the code. */
const STATE_WORDS = 4;

/** A search for keys by their positions in the order. */
export interface RankSelectWork {
  readonly keys: Buffer;
  /** Fewer than 2^32. */
  readonly n: number;
  readonly codec: KeyCodec;
  /** Each below n. */
  readonly ranks: readonly number[];
  /** Maximum number of keys that are listed for the next digit; while there are more, all keys are read. */
  readonly capacity: number;
  /** Maximum number of groups for each rank. */
  readonly groups: number;
}

/** Returns the digits of a number of `width` bits from the top; `at` is the lowest bit, counted from `from`. */
export function digitsOf(width: number, from: number): { readonly at: number; readonly bits: number }[] {
  const digits: { readonly at: number; readonly bits: number }[] = [];
  for (let end = width; end > 0; end -= SELECT_BITS) {
    const shift = Math.max(0, end - SELECT_BITS);
    digits.push({ at: from + shift, bits: end - shift });
  }
  return digits;
}

/**
 * Enqueues a radix select for each rank, see cl/rank_select.cl.
 *
 * Complexity: one launch for each 11 bits of a key, and one more. Uniform keys are read twice for each rank.
 *
 * @returns a function that returns the code at each rank; call it when the queue has finished
 * @throws BuildError
 */
export async function enqueueRankSelect(
  device: Device,
  { keys, n, codec, ranks, capacity, groups: maxGroups }: RankSelectWork,
): Promise<() => bigint[]> {
  const info = codec.dtype;
  const shape = { KEY_BITS: info.width, VALUE_BYTES: 0, SELECT_BITS };
  const { program, groupSize: local } = await buildForGroups(device, 'rank_select.cl', ['rank_pass'], shape);
  if (ranks.length === 0) return () => [];
  const passes = [...digitsOf(info.width, 0), { at: 0, bits: 0 }];
  const all = passes.length * ranks.length;
  const countBytes = 4 * ((1 << SELECT_BITS) + 1) * all;
  const stateBytes = 8 * STATE_WORDS;
  const codes = new BigUint64Array(STATE_WORDS * ranks.length);
  const { queue, pool } = device;
  const listBytes = 2 * capacity * info.bytes * ranks.length;
  pool.withBuffers([all * stateBytes, countBytes, listBytes], (states, counts, lists) => {
    queue.write(states, BigUint64Array.from(ranks.flatMap((rank) => [0n, BigInt(rank), 0n, BigInt(n)])));
    queue.fill(counts, 0, { bytes: countBytes });
    const groups = Math.min(gridStrideGroups(device, n, local), maxGroups);
    let before: number = info.width;
    for (const [pass, { at, bits }] of passes.entries()) {
      const how = [u64(capacity), u32(pass), u32(before), u32(at), u32(bits), codecArgument(codec)];
      const global = [(bits === 0 ? 1 : groups) * local, ranks.length];
      queue.run(program.kernel('rank_pass'), [keys, states, counts, lists, ...how], {
        global,
        local: [local, 1],
      });
      before = at;
    }
    queue.read(states, codes, (all - ranks.length) * stateBytes);
  });
  return () => ranks.map((_, i) => codes[i * STATE_WORDS] as bigint);
}
