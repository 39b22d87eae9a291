// Which slice of the rotation a commit runs. Ten successive commits run each of ten slices once, and the order differs from ten to ten,
// so that no habit of submitting every second or fifth commit leaves a slice out.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { root } from './stage.mjs';

/** The numbers below `count` in an order drawn by `seed`: sorted by their hashes. */
export function drawn(count, seed) {
  const hash = (i) => createHash('sha256').update(`${seed} ${i}`).digest('hex');
  return Array.from({ length: count }, (_, i) => i).toSorted((a, b) => (hash(a) < hash(b) ? -1 : 1));
}

/**
 * The slice of a commit.
 *
 * @param {number} number the commit's position in its history, from 1
 * @param {number} slices number of slices
 */
export function sliceOf(number, slices) {
  const round = Math.floor((number - 1) / slices);
  return drawn(slices, round)[(number - 1) % slices];
}

/** The commit's hash, and its position in its history, which the hash determines. */
export function commit() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  return { hash: git('rev-parse', 'HEAD'), number: Number(git('rev-list', '--count', 'HEAD')) };
}
