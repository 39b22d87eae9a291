// biome-ignore-all lint/suspicious/noControlCharactersInRegex: headers hold them on purpose
import type { FileFormat } from './file-format.js';
import { latin1 } from './latin1.js';
import { TEXT } from './text.js';

const beginsWith =
  (...magics: readonly string[]) =>
  (head: Uint8Array): boolean =>
    magics.some((magic) => latin1(head, 0, magic.length) === magic);

const u16 = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);

/** Offsets at which an HDF5 signature may start: 0, or after a user block. */
const HDF5_PLACES = [0, 512, 1024, 2048];

/** Highest known "version needed to extract", in tenths. */
const MAX_ZIP_VERSION = 63;
/** Known compression methods of ZIP archives; 99 is encryption. */
const ZIP_METHODS = [0, 8, 9, 12, 14, 93, 95, 97, 98, 99];

function isZip(head: Uint8Array): boolean {
  if (beginsWith('PK\x05\x06')(head)) return head.length >= 22 && u16(head, 4) === 0; // empty archive
  if (!beginsWith('PK\x03\x04')(head) || head.length < 30) return false;
  const [version, method, nameLength] = [u16(head, 4) & 0xff, u16(head, 8), u16(head, 26)];
  return version <= MAX_ZIP_VERSION && ZIP_METHODS.includes(method) && nameLength > 0;
}

/** Tests for gzip. The magic number has only two bytes, so method, flags, level and system are checked as well. */
function isGzip(head: Uint8Array): boolean {
  const [flags = 0xff, extra = 0xff, system = 0] = [head[3], head[8], head[9]];
  return (
    beginsWith('\x1f\x8b\x08')(head) &&
    head.length >= 18 &&
    (flags & 0xe0) === 0 &&
    [0, 2, 4].includes(extra) &&
    (system <= 13 || system === 255)
  );
}

/** Tests for a tar header block whose octal checksum is correct. */
function isTar(head: Uint8Array): boolean {
  if (head.length < 512 || latin1(head, 257, 262) !== 'ustar') return false;
  const digits = /^[ 0]*([0-7]+)[ \0]/.exec(latin1(head, 148, 156))?.[1];
  const sum = head.subarray(0, 512).reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 32 : byte), 0);
  return digits !== undefined && Number.parseInt(digits, 8) === sum;
}

/** Formats that are detected but not read. A format that becomes readable moves to `readable.ts`. */
export const REFUSED_FORMATS: readonly FileFormat[] = [
  { name: 'a NumPy archive', extensions: ['npz'] },
  {
    name: 'an Arrow file of the old Feather format',
    extensions: [],
    matches: (head, tail) =>
      beginsWith('FEA1')(head) && (tail === undefined || latin1(tail).endsWith('FEA1')),
  },
  {
    name: 'an ORC file',
    extensions: ['orc'],
    matches: (head, tail) => beginsWith('ORC')(head) && tail !== undefined && latin1(tail, -4, -1) === 'ORC',
  },
  { name: 'an Avro file', extensions: ['avro'], matches: (head) => /^Obj\x01.*avro\./s.test(latin1(head)) },
  {
    name: 'an HDF5 file',
    extensions: ['h5', 'hdf5', 'hdf', 'he5', 'nc', 'nc4'],
    matches: (head) => HDF5_PLACES.some((at) => latin1(head, at, at + 8) === '\x89HDF\r\n\x1a\n'),
  },
  {
    name: 'an SQLite database',
    extensions: ['sqlite', 'sqlite3', 'db'],
    matches: beginsWith('SQLite format 3\0'),
  },
  { name: 'a MATLAB file', extensions: ['mat'], matches: beginsWith('MATLAB 5.0 MAT-file') },
  { name: 'a FITS file', extensions: ['fits', 'fit'], matches: beginsWith('SIMPLE  =  ') },
  { name: 'a Python pickle', extensions: ['pkl', 'pickle'] },
  { name: 'an R data file', extensions: ['rds', 'rdata'] },
  { name: 'a zip archive', extensions: ['zip', 'jar', 'whl', 'xlsx', 'docx', 'odt', 'ods'], matches: isZip },
  { name: 'a gzip file', extensions: ['gz', 'tgz'], matches: isGzip },
  {
    name: 'a zstd file',
    extensions: ['zst', 'tzst'],
    // Bit 3 of the descriptor is reserved and must be zero.
    matches: (head) => beginsWith('\x28\xb5\x2f\xfd')(head) && head.length >= 9 && ((head[4] ?? 8) & 8) === 0,
  },
  { name: 'an xz file', extensions: ['xz', 'txz', 'lzma'], matches: beginsWith('\xfd7zXZ\0') },
  {
    name: 'a bzip2 file',
    extensions: ['bz2', 'tbz2'],
    matches: (head) => /^BZh[1-9](1AY&SY|\x17rE8P\x90)/.test(latin1(head, 0, 10)),
  },
  {
    name: 'an lz4 file',
    extensions: ['lz4'],
    // Version 1, and two reserved bits that must be zero.
    matches: (head) =>
      beginsWith('\x04\x22\x4d\x18')(head) &&
      ((head[4] ?? 0) & 0xc2) === 0x40 &&
      ((head[5] ?? 1) & 0x8f) === 0,
  },
  { name: 'a Brotli file', extensions: ['br'] },
  { name: 'a 7z archive', extensions: ['7z'], matches: beginsWith('7z\xbc\xaf\x27\x1c') },
  { name: 'a RAR archive', extensions: ['rar'], matches: beginsWith('Rar!\x1a\x07\x00', 'Rar!\x1a\x07\x01') },
  { name: 'a tar archive', extensions: ['tar'], matches: isTar },
  {
    name: 'a program or library',
    extensions: ['exe', 'dll', 'so', 'dylib'],
    matches: (head) =>
      /^\x7fELF[\x01\x02][\x01\x02]\x01/.test(latin1(head, 0, 7)) || beginsWith('!<arch>\n')(head),
  },
  { name: 'a PDF document', extensions: ['pdf'], matches: (head) => /^%PDF-\d\.\d/.test(latin1(head, 0, 8)) },
  { name: 'a PNG image', extensions: ['png'], matches: beginsWith('\x89PNG\r\n\x1a\n') },
  {
    name: 'a JPEG image',
    extensions: ['jpg', 'jpeg'],
    matches: (head) => /^\xff\xd8\xff[\xe0\xe1]..(JFIF|Exif)\0/s.test(latin1(head, 0, 11)),
  },
  { name: 'a GIF image', extensions: ['gif'], matches: beginsWith('GIF87a', 'GIF89a') },
  { name: 'a TIFF image', extensions: ['tif', 'tiff'] },
  {
    name: 'a RIFF file',
    extensions: ['wav', 'webp', 'avi'],
    matches: (head) => /^RIFF....(WAVE|WEBP|AVI )/s.test(latin1(head, 0, 12)),
  },
  { name: 'JSON text', extensions: ['json'] },
  { ...TEXT, extensions: ['log', 'md', 'xml', 'html', 'htm', 'yaml', 'yml', 'toml', 'ini'] },
];
