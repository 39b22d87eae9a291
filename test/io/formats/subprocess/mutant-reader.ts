/**
 * Reads mutants of a file one after the other, as the subprocess does: arguments `FORMAT SEED COUNT`, the file as
 * descriptor 3.
 */
import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { FD } from '../../../../src/io/formats/subprocess/protocol.js';
import { openArrowTable } from '../../../../src/io/formats/subprocess/tables/arrow-table-reader.js';
import { TRAP_MESSAGE } from '../../../../src/io/formats/subprocess/tables/parquet-file.js';
import { openParquetTable } from '../../../../src/io/formats/subprocess/tables/parquet-table.js';
import { DTYPES, dtypeInfo } from '../../../../src/keys/dtype.js';
import { FormatError } from '../../../../src/util/errors.js';
import { Random } from '../../../../src/util/random.js';

const [format = '', seed = '', count = ''] = process.argv.slice(2);
const original = new Uint8Array(fstatSync(FD.file).size);
readSync(FD.file, original, 0, original.length, 0);

/** A few bytes changed, or the end cut off. */
function mutant(random: Random): Uint8Array {
  const bytes = original.slice(0, random.below(4) === 0 ? random.below(original.length) : original.length);
  if (bytes.length < original.length) return bytes;
  for (let changes = 1 + random.below(4); changes > 0; changes--) {
    // The beginning and the end hold the offsets of everything else.
    const places = [
      random.below(bytes.length),
      random.below(Math.min(512, bytes.length)),
      bytes.length - 1 - random.below(Math.min(512, bytes.length)),
    ];
    const at = places[random.below(3)] ?? 0;
    bytes[at] =
      [random.below(256), 0, 255, 128, (bytes[at] ?? 0) ^ (1 << random.below(8))][random.below(5)] ?? 0;
  }
  return bytes;
}

/** Number of rows read from all numeric columns. */
async function read(): Promise<number> {
  const { fields, batches } = await (format === 'parquet' ? openParquetTable() : openArrowTable());
  const wanted = fields.flatMap(({ type }, index) => {
    const dtype = DTYPES.find((known) => known === type?.is);
    return dtype ? [{ index, dtype }] : [];
  });
  if (wanted.length === 0) return 0;
  let rows = 0;
  for await (const batch of batches({ is: 'columns', columns: wanted.map(({ index }) => index) })) {
    for (const [i, { dtype }] of wanted.entries()) {
      if (batch.buffers[2 * i + 1]?.length !== batch.rows * dtypeInfo(dtype).bytes)
        throw new TypeError('a short batch');
    }
    rows += batch.rows;
  }
  return rows;
}

const seen = { read: 0, refused: 0, whole: 0, done: 0 };
for (let i = 0; i < Number(count); i++) {
  seen.done++;
  const random = new Random(Number(seed) + i);
  const bytes = mutant(random);
  ftruncateSync(FD.file, 0);
  writeSync(FD.file, bytes, 0, bytes.length, 0);
  try {
    await read();
    seen.read++;
    if (bytes.length < original.length) seen.whole++;
  } catch (error) {
    // These errors are defects of clsort; those of libraries are caught at the call.
    if (error instanceof TypeError || error instanceof ReferenceError) {
      throw new Error(`mutant ${Number(seed) + i}`, { cause: error });
    }
    seen.refused++;
    // The Parquet decoder is unusable afterwards; the remaining mutants go to another process.
    if (error instanceof FormatError && error.message.startsWith(TRAP_MESSAGE)) break;
  }
}
writeSync(FD.out, JSON.stringify(seen));
process.kill(process.pid, 'SIGKILL'); // as the child ends
