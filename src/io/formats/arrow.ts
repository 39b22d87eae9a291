import { type BinaryKind, createBy, openBy } from './foreign/foreign.js';
import type { KeyFormat } from './key-file.js';
import { latin } from './latin.js';

const FILE: BinaryKind = { id: 'arrow', format: 'arrow', isText: false };
const STREAM: BinaryKind = { id: 'arrows', format: 'arrows', isText: false };

/** Arrow IPC files, by `apache-arrow`. Streams are read as well, whatever they are called. */
export const arrow: KeyFormat = {
  id: FILE.id,
  foreign: FILE,
  name: 'an Arrow file',
  extensions: ['arrow', 'feather', 'ipc'],
  compressible: false,
  matches: (head) => latin(head, 0, 8) === 'ARROW1\0\0',
  open: openBy(FILE),
  create: createBy(FILE),
};

/** Arrow IPC streams, by `apache-arrow`. Files are read as well, whatever they are called. */
export const arrows: KeyFormat = {
  id: STREAM.id,
  foreign: STREAM,
  name: 'an Arrow stream',
  extensions: ['arrows'],
  compressible: false,
  open: openBy(STREAM),
  create: createBy(STREAM),
};
