/** Key files that a subprocess reads and writes. The launcher is loaded on first use. */
import type { KeyFormat } from '../key-file.js';
import type { BinaryKind, SubprocessKind } from './subprocess-kind.js';

/**
 * Returns the function that opens such key files.
 *
 * @throws the errors of `openInSubprocess` of subprocess-reader.ts
 */
export const openKeysBy =
  (kind: BinaryKind): KeyFormat['open'] =>
  async (source, request) =>
    (await import('./subprocess-reader.js')).openInSubprocess(kind, source, request);

/**
 * Returns the function that creates such key files.
 *
 * @throws the errors of `createInSubprocess` of subprocess-writer.ts
 */
export const createKeysBy =
  (kind: SubprocessKind): KeyFormat['create'] =>
  async (output, facts, options) =>
    (await import('./subprocess-writer.js')).createInSubprocess(kind, output, facts, options);
