/** Shared parts of the views of radix sorts. */
import { agree } from './explanation.js';
import { afterMove, type Recording, type Subject } from './record.js';

/** Returns the bits [low, high) of the code that a pass sorts on. */
export function digitBits({ bits }: Subject, pass: number, radixBits: number): [number, number] {
  const low = bits[0] + pass * radixBits;
  return [low, Math.min(low + radixBits, bits[1])];
}

export const digitTitle = (pass: number, [low, high]: readonly [number, number]): string =>
  `pass ${pass}: ${high - low === 1 ? `bit ${low}` : `bits ${low} to ${high - 1}`}`;

/**
 * Checks the moves of a pass against the places of the model.
 *
 * @returns the elements as the device left them
 * @throws MismatchError when they differ from the model
 */
export function checkMove(
  recording: Recording,
  { pass, kernel, places }: { pass: number; kernel: string; places: readonly number[] },
  before: { codes: bigint[]; ids: number[] },
): { codes: bigint[]; ids: number[] } {
  const after = recording.after(pass, kernel);
  agree(`keys after pass ${pass}`, after.codes, afterMove(before.codes, places));
  agree(`positions after pass ${pass}`, after.ids, afterMove(before.ids, places));
  return after;
}
