import type { KeyFormat } from './key-file.js';
import { latin1 } from './latin1.js';
import { createKeysBy, openKeysBy } from './subprocess/subprocess-keys.js';
import type { BinaryKind } from './subprocess/subprocess-kind.js';

const FILE: BinaryKind = { id: 'arrow', format: 'arrow', isText: false };
const STREAM: BinaryKind = { id: 'arrows', format: 'arrows', isText: false };

/** Arrow IPC file format, via `apache-arrow`. The reader also accepts IPC streams, whatever the extension. */
export const arrow: KeyFormat = {
  id: FILE.id,
  subprocess: FILE,
  name: 'an Arrow file',
  extensions: ['arrow', 'feather', 'ipc'],
  compressible: false,
  matches: (head) => latin1(head, 0, 8) === 'ARROW1\0\0',
  open: openKeysBy(FILE),
  create: createKeysBy(FILE),
};

/** Arrow IPC stream format, via `apache-arrow`. The reader also accepts IPC files, whatever the extension. */
export const arrows: KeyFormat = {
  id: STREAM.id,
  subprocess: STREAM,
  name: 'an Arrow stream',
  extensions: ['arrows'],
  compressible: false,
  open: openKeysBy(STREAM),
  create: createKeysBy(STREAM),
};
