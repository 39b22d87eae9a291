import { closeSync, openSync } from 'node:fs';
import test from 'ava';
import { arrow } from '../../../../src/io/formats/arrow.js';
import { parquet } from '../../../../src/io/formats/parquet.js';
import { ReadBack } from '../../../../src/io/formats/subprocess/read-back.js';
import { IoError } from '../../../../src/util/errors.js';
import { scratchFolder } from '../../../cli/cli.js';
import { someKeys, write } from './files.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const { signal } = new AbortController();

for (const format of [arrow, parquet]) {
  test(`${format.id}: written values are read back unchanged, and other values are an error`, async (t) => {
    const keys = someKeys('u32', 1000);
    const name = path(`keys.${format.id}`);
    await write(format, name, { dtype: 'u32', keys, options: { verify: true } });
    const compare = async (sent: Uint8Array): Promise<void> => {
      const readBack = new ReadBack({ format: format.id as never, ask: { is: 'columns', columns: [0] } });
      readBack.add({ rows: 1000, buffers: [sent] });
      const fd = openSync(name, 'r');
      try {
        await readBack.compare({ name, fd, signal });
      } finally {
        closeSync(fd);
      }
    };
    await t.notThrowsAsync(compare(keys));
    const others = keys.slice();
    others[17] = (others[17] ?? 0) ^ 1;
    await t.throwsAsync(compare(others), {
      instanceOf: IoError,
      message: /differs from the written data, its values/,
    });
  });
}
