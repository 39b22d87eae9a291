/** Formats that a subprocess writes and, except for text, reads. */
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
