// Determines the slice of the rotation that a commit runs. Ten successive commits run each of ten slices once. The
// order differs between groups of ten, so that submitting only every second or fifth commit still covers all slices.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { root } from './stage.mjs';

/** Returns the numbers below `count` in an order determined by `seed`: sorted by their hashes. */
export function drawn(count, seed) {
  const hash = (i) => createHash('sha256').update(`${seed} ${i}`).digest('hex');
  return Array.from({ length: count }, (_, i) => i).toSorted((a, b) => (hash(a) < hash(b) ? -1 : 1));
}

/**
 * Returns the slice of a commit.
 *
 * @param {number} number the commit's position in its history, starting at 1
 * @param {number} slices number of slices
 */
export function sliceOf(number, slices) {
  const round = Math.floor((number - 1) / slices);
  return drawn(slices, round)[(number - 1) % slices];
}

/** Returns the commit's hash, and its position in its history, which the hash determines. */
export function commit() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  return { hash: git('rev-parse', 'HEAD'), number: Number(git('rev-list', '--count', 'HEAD')) };
}
