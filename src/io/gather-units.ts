import { inSlices, type Steps } from '../sort/host/steps.js';

/** Units whose first bytes are fetched before they are copied: their cache misses then overlap. */
const AHEAD = 32;

const LINE_BYTES = 64;

/** Most bytes that are fetched ahead of each unit; the rest of a longer one the processor foresees by itself. */
const MAX_AHEAD = 4 * LINE_BYTES;

/** Bytes that are copied in a step. */
const STEP_BYTES = 2 ** 22;

/** Units below this are copied byte by byte where words do not fit: a call for each costs more. */
const CALL_BYTES = 32;

/**
 * Copies units to where they are wanted: unit i of `to` is unit `positions[i]` of `from`.
 *
 * What it takes is cache misses, one after the other. So the units of a group are touched first, for which the
 * processor does not wait, and then copied: by words where these fit, else by a call for each.
 *
 * @param unit bytes of a unit
 */
export function* gatherUnits(from: Uint8Array, unit: number, positions: Uint32Array, to: Uint8Array): Steps {
  const isAligned = (unit | from.byteOffset | to.byteOffset) % 4 === 0;
  const width = isAligned ? 4 : 1;
  const words = unit / width;
  const [source, target] = isAligned ? [from, to].map(words32) : [from, to];
  const bytes = Buffer.from(from.buffer, from.byteOffset, from.byteLength);
  const copy = (start: number, end: number): void => {
    for (let first = start; first < end; first += AHEAD) {
      const last = Math.min(first + AHEAD, end);
      touch(from, unit, positions, first, last);
      if (isAligned || unit < CALL_BYTES) {
        copyWords(source as Uint32Array, words, positions, first, last, target as Uint32Array);
      } else {
        for (let i = first; i < last; i++) {
          const at = (positions[i] as number) * unit;
          bytes.copy(to, i * unit, at, at + unit);
        }
      }
    }
  };
  yield* inSlices(positions.length, copy, Math.max(AHEAD, Math.floor(STEP_BYTES / unit)));
}

const words32 = (bytes: Uint8Array): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);

/** What was read of units ahead, kept so that reading them is not optimised away. */
const touched = new Uint32Array(1);

function touch(from: Uint8Array, unit: number, positions: Uint32Array, first: number, last: number): void {
  const length = Math.min(unit, MAX_AHEAD);
  let sum = 0;
  for (let i = first; i < last; i++) {
    const at = (positions[i] as number) * unit;
    for (let byte = 0; byte < length; byte += LINE_BYTES) sum += from[at + byte] as number;
  }
  touched[0] = sum;
}

/** Four words a turn, since the checks around each are what a word costs. */
function copyWords(
  from: Uint32Array,
  words: number,
  positions: Uint32Array,
  first: number,
  last: number,
  to: Uint32Array,
): void {
  for (let i = first; i < last; i++) {
    let source = (positions[i] as number) * words;
    let target = i * words;
    const end = source + words;
    for (; source + 4 <= end; source += 4, target += 4) {
      to[target] = from[source] as number;
      to[target + 1] = from[source + 1] as number;
      to[target + 2] = from[source + 2] as number;
      to[target + 3] = from[source + 3] as number;
    }
    for (; source < end; source++, target++) to[target] = from[source] as number;
  }
}
