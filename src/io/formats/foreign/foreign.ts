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
export type ForeignKind = BinaryKind | TextKind;

/** How keys of such files are read. @throws as `openForeign` of foreign-reader.ts */
export const openBy =
  (kind: BinaryKind): KeyFormat['open'] =>
  async (source, request) =>
    (await import('./foreign-reader.js')).openForeign(kind, source, request);

/** How keys are written to such files. @throws as `createForeign` of foreign-writer.ts */
export const createBy =
  (kind: ForeignKind): KeyFormat['create'] =>
  async (output, facts, options) =>
    (await import('./foreign-writer.js')).createForeign(kind, output, facts, options);
