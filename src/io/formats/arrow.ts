import { type ForeignKind, openForeign } from './foreign/foreign-reader.js';
import { createForeign } from './foreign/foreign-writer.js';
import type { KeyFormat } from './key-file.js';

const FILE: ForeignKind = { id: 'arrow', format: 'arrow', isText: false };
const STREAM: ForeignKind = { id: 'arrows', format: 'arrows', isText: false };

/** Arrow IPC files, by `apache-arrow`. Streams are read as well, whatever they are called. */
export const arrow: KeyFormat = {
  id: FILE.id,
  extensions: ['arrow', 'feather', 'ipc'],
  open: (source, request) => openForeign(FILE, source, request),
  create: (output, facts, options) => createForeign(FILE, output, facts, options),
};

/** Arrow IPC streams, by `apache-arrow`. Files are read as well, whatever they are called. */
export const arrows: KeyFormat = {
  id: STREAM.id,
  extensions: ['arrows'],
  open: (source, request) => openForeign(STREAM, source, request),
  create: (output, facts, options) => createForeign(STREAM, output, facts, options),
};
