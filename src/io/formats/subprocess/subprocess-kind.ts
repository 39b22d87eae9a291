/** Formats that a process of their own writes, and reads where they are no texts. What starts that is loaded when there is such a file. */
import type { KeyFormat } from '../key-file.js';
import type { BinaryFormat, TextFormat } from './protocol.js';

/** What a format says of its files. */
interface Kind<Format, IsText> {
  /** As `--format` takes it. */
  readonly id: string;
  readonly format: Format;
  /** Whether values are texts, which may be of any dtype. */
  readonly isText: IsText;
  /** Between columns, where that is not detected. */
  readonly delimiter?: string;
}

export type BinaryKind = Kind<BinaryFormat, false>;
export type TextKind = Kind<TextFormat, true>;
export type SubprocessKind = BinaryKind | TextKind;

/** How keys of such files are read. @throws as `openInSubprocess` of subprocess-reader.ts */
export const openKeysBy =
  (kind: BinaryKind): KeyFormat['open'] =>
  async (source, request) =>
    (await import('./subprocess-reader.js')).openInSubprocess(kind, source, request);

/** How keys are written to such files. @throws as `createInSubprocess` of subprocess-writer.ts */
export const createKeysBy =
  (kind: SubprocessKind): KeyFormat['create'] =>
  async (output, facts, options) =>
    (await import('./subprocess-writer.js')).createInSubprocess(kind, output, facts, options);
