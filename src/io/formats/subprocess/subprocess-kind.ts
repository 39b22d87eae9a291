/** Formats that a subprocess writes and, except for text, reads. The launcher is loaded on first use. */
import type { KeyFormat } from '../key-file.js';
import type { BinaryFormat, TextFormat } from './protocol.js';

/** Properties of a subprocess format. */
interface Kind<Format, IsText> {
  /** Identifier for `--format`. */
  readonly id: string;
  readonly format: Format;
  /** Whether values are text, which may have any dtype. */
  readonly isText: IsText;
  /** Fixed column delimiter; undefined if it is detected. */
  readonly delimiter?: string;
}

export type BinaryKind = Kind<BinaryFormat, false>;
export type TextKind = Kind<TextFormat, true>;
export type SubprocessKind = BinaryKind | TextKind;

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
