/** Key files that a subprocess reads and writes. The launcher is loaded on first use. */
import type { KeyFormat } from '../key-file.js';
import type { BinaryKind, SubprocessKind } from './subprocess-kind.js';

/**
 * Returns the function that opens such key files.
 *
 * @throws the errors of `openKeyColumn` of key-column.ts
 */
export const openKeysBy =
  (kind: BinaryKind): KeyFormat['open'] =>
  async (source, request) =>
    (await import('./key-column.js')).openKeyColumn(kind, source, request);

/**
 * Returns the function that creates such key files.
 *
 * @throws the errors of `createKeyColumn` of key-column.ts
 */
export const createKeysBy =
  (kind: SubprocessKind): KeyFormat['create'] =>
  async (output, facts, options) =>
    (await import('./key-column.js')).createKeyColumn(kind, output, facts, options);
