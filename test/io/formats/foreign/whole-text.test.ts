import { randomBytes } from 'node:crypto';
import { fstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { assertWholeText } from '../../../../src/io/formats/foreign/whole-text.js';
import { FormatError } from '../../../../src/util/errors.js';

/** Several pieces, so that a broken one ends in the middle of its reading. */
const packed = gzipSync(randomBytes(6 * 2 ** 20));

test('a compressed text is verified to its end, and its descriptor stays open', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'whole-text-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const broken = Buffer.from(packed);
  broken.fill(0xff, 20, 60);
  const cases: readonly (readonly [string, Uint8Array, isWhole: boolean])[] = [
    ['whole', packed, true],
    ['broken at its beginning', broken, false],
    ['padded', Buffer.concat([packed, Buffer.alloc(99)]), true],
    ['something behind the padding', Buffer.concat([packed, Buffer.alloc(99), Buffer.from('!')]), false],
    ['cut', packed.subarray(0, packed.length - 9), false],
    ['another sum', Buffer.concat([packed.subarray(0, packed.length - 8), Buffer.alloc(8)]), false],
  ];
  for (const [name, bytes, isWhole] of cases) {
    const path = join(folder, 'text.gz');
    writeFileSync(path, bytes);
    const handle = await open(path);
    const { ino } = fstatSync(handle.fd);
    const checked = assertWholeText(name, { fd: handle.fd, compression: 'gzip' });
    if (isWhole) await t.notThrowsAsync(checked, name);
    else await t.throwsAsync(checked, { instanceOf: FormatError, message: /gzip is broken/ }, name);
    t.is(fstatSync(handle.fd).ino, ino, name); // the opener closes it
    await handle.close();
  }
});

test('an aborted check leaves its descriptor open', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'whole-text-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'text.gz');
  writeFileSync(path, packed);
  const handle = await open(path);
  const controller = new AbortController();
  const checked = assertWholeText('given up', {
    fd: handle.fd,
    compression: 'gzip',
    signal: controller.signal,
  });
  setImmediate(() => controller.abort());
  await t.throwsAsync(checked, { code: 'ERR_CLSORT_ABORTED' });
  t.true(fstatSync(handle.fd).isFile());
  await handle.close();
});
