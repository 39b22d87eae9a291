#!/usr/bin/env node
/**
 * Generates and checks records of the Sort Benchmark (sortbenchmark.org), independently of clsort: 100 bytes, of which
 * the first 10 are the key, compared as unsigned bytes.
 *
 *     node scripts/sort-benchmark.mjs gen 1000000 in.dat
 *     clsort sort in.dat -o out.dat --record 100 --key 0:10
 *     node scripts/sort-benchmark.mjs check out.dat --of in.dat
 *
 * Binary keys have random bytes. With --ascii they have random printable characters, and records are lines that end
 * with CR LF. The key is followed by the number of the record, in 32 hexadecimal digits, and filler letters. The
 * benchmark's own generator draws other keys, so its checksums differ.
 *
 * The check prints the number of records, their checksum (the sum of the CRC32 of each, in 128 bits), the number of
 * keys equal to their predecessor, and the first record out of order. The exit code is 1 when there is one, or when
 * number or checksum differ from those of the file named by --of.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { crc32 } from 'node:zlib';

const RECORD = 100;
const KEY = 10;
/** Number of records generated or read at a time. */
const PIECE = 2 ** 16;

const DIGITS = 32;
/** Number of printable characters, from the space to the tilde. */
const PRINTABLE = 95;

/** Returns 32 random bits that depend only on the arguments. */
function random(seed, low, high, word) {
  let bits = Math.imul(low, 0x9e3779b1) ^ Math.imul(high + word, 0x85ebca77) ^ seed;
  for (const factor of [0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f]) {
    bits = Math.imul(bits ^ (bits >>> 16), factor) + word;
    bits ^= bits >>> 15;
  }
  return bits >>> 0;
}

/** Writes the record with this number to the beginning of `to`. */
function makeRecord(number, seed, isAscii, to) {
  const [low, high] = [number >>> 0, Math.floor(number / 2 ** 32)];
  for (let at = 0; at < KEY; at += 2) {
    const bits = random(seed, low, high, at);
    to[at] = isAscii ? 32 + ((bits & 0xffff) % PRINTABLE) : bits;
    to[at + 1] = isAscii ? 32 + ((bits >>> 16) % PRINTABLE) : bits >>> 8;
  }
  to.fill(isAscii ? 0x20 : 0, KEY, KEY + 2);
  to.latin1Write(number.toString(16).toUpperCase().padStart(DIGITS, '0'), KEY + 2);
  to.fill(65 + (number % 26), KEY + 2 + DIGITS);
  if (isAscii) to.latin1Write('\r\n', RECORD - 2);
}

function generate(count, path, { ascii: isAscii, seed, from }) {
  const file = openSync(path, 'w');
  const piece = Buffer.alloc(Math.min(count, PIECE) * RECORD);
  for (let first = 0; first < count; first += PIECE) {
    const n = Math.min(PIECE, count - first);
    for (let i = 0; i < n; i++) {
      makeRecord(from + first + i, seed, isAscii, piece.subarray(i * RECORD, (i + 1) * RECORD));
    }
    for (let at = 0; at < n * RECORD; ) at += writeSync(file, piece, at, n * RECORD - at);
  }
  closeSync(file);
}

/** Summarises a file of records; `unordered` is the first record less than its predecessor. */
function summary(path) {
  const file = openSync(path, 'r');
  // The last record of a piece is kept before the next one.
  const piece = Buffer.alloc((PIECE + 1) * RECORD);
  let [records, duplicates, checksum] = [0, 0, 0n];
  let unordered;
  for (;;) {
    let bytes = 0;
    for (let read = -1; read !== 0 && bytes < PIECE * RECORD; bytes += read) {
      read = readSync(file, piece, RECORD + bytes, PIECE * RECORD - bytes);
    }
    if (bytes === 0) break;
    if (bytes % RECORD !== 0) throw new Error(`${path} ends within a record of ${RECORD} bytes`);
    let sum = 0;
    for (let at = RECORD; at <= bytes; at += RECORD, records++) {
      sum += crc32(piece.subarray(at, at + RECORD));
      if (records === 0) continue;
      const order = piece.compare(piece, at - RECORD, at - RECORD + KEY, at, at + KEY);
      if (order < 0) unordered ??= records;
      if (order === 0) duplicates++;
    }
    checksum = BigInt.asUintN(128, checksum + BigInt(sum));
    piece.copy(piece, 0, bytes, bytes + RECORD);
  }
  closeSync(file);
  return { records, checksum: checksum.toString(16), duplicates, unordered };
}

function check(path, { of }) {
  const found = summary(path);
  const expected = of === undefined ? found : summary(of);
  const isWhole = found.records === expected.records && found.checksum === expected.checksum;
  console.log(`records ${found.records}, checksum ${found.checksum}, duplicate keys ${found.duplicates}`);
  console.log(found.unordered === undefined ? 'order right' : `order WRONG at record ${found.unordered}`);
  if (!isWhole) console.log(`NOT the records of ${of}: ${expected.records}, checksum ${expected.checksum}`);
  else if (of !== undefined) console.log(`the records of ${of}`);
  return found.unordered === undefined && isWhole ? 0 : 1;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ascii: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    of: { type: 'string' },
  },
});
const [verb, ...rest] = positionals;
const whole = (text) => (/^\d+$/.test(text ?? '') ? Number(text) : Number.NaN);
const numbers = [whole(values.seed), whole(values.from), verb === 'gen' ? whole(rest[0]) : 0];
if (verb === 'gen' && rest.length === 2 && numbers.every(Number.isSafeInteger)) {
  const [seed, from, count] = numbers;
  generate(count, rest[1], { ascii: values.ascii, seed, from });
} else if (verb === 'check' && rest.length === 1) {
  process.exitCode = check(rest[0], values);
} else {
  console.error('usage: sort-benchmark.mjs gen COUNT FILE [--ascii] [--seed N] [--from FIRST_NUMBER]');
  console.error('       sort-benchmark.mjs check FILE [--of INPUT]');
  process.exitCode = 2;
}
