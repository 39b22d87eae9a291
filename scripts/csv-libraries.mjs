#!/usr/bin/env node
// Compares packages that read CSV with the reader of clsort: which faults of a file they report, time and memory.
// Prints a Markdown table.
//
//   npm install --no-save csv-parse papaparse
//   node scripts/csv-libraries.mjs FILE.csv        (after `npm run build`; the file has four columns)

import { spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Readers: each returns the number of records, without the header. */
const READERS = {
  async clsort(file) {
    const { CsvSplitter } = await import('../dist/src/io/formats/text/csv-splitter.js');
    const splitter = new CsvSplitter({ name: file, delimiter: Buffer.from(',') });
    let [rest, rows] = [Buffer.alloc(0), 0];
    for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 22 })) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      rest = bytes.subarray(splitter.split(bytes, false));
      rows += splitter.rows;
    }
    splitter.split(rest, true);
    return rows + splitter.rows - 1;
  },
  async 'csv-parse'(file) {
    const { parse } = await import('csv-parse');
    let rows = 0;
    for await (const _ of createReadStream(file, { highWaterMark: 2 ** 22 }).pipe(parse())) rows++;
    return rows - 1;
  },
  async papaparse(file) {
    const { default: papa } = await import('papaparse');
    return await new Promise((resolve, reject) => {
      let rows = 0;
      papa.parse(createReadStream(file, { highWaterMark: 2 ** 22 }), {
        step: ({ errors: [error] }) => (error ? reject(new Error(error.message)) : rows++),
        complete: () => resolve(rows - 1),
        error: reject,
        skipEmptyLines: true,
      });
    });
  },
  async 'DuckDB, texts only'(file) {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const connection = await (await DuckDBInstance.create()).connect();
    const dialect = `delim=',', quote='"', escape='"', header=true, all_varchar=true, strict_mode=true, auto_detect=false`;
    const columns = `columns={'a': 'VARCHAR', 'b': 'VARCHAR', 'c': 'VARCHAR', 'd': 'VARCHAR'}`;
    const result = await connection.stream(`SELECT * FROM read_csv('${file}', ${dialect}, ${columns})`);
    for (let rows = 0; ; ) {
      const chunk = await result.fetchChunk();
      if (!chunk || chunk.rowCount === 0) return rows;
      for (let k = 0; k < 4; k++) chunk.getColumnVector(k).getItem(0);
      rows += chunk.rowCount;
    }
  },
};

const [, self, file, one] = process.argv;
if (one !== undefined) {
  const started = performance.now();
  const rows = await READERS[one](file);
  const seconds = (performance.now() - started) / 1000;
  console.log(JSON.stringify({ rows, seconds, bytes: process.resourceUsage().maxRSS * 1024 }));
  process.exit();
}

const folder = mkdtempSync(join(tmpdir(), 'clsort-csv-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Faulty files; a reader should report each of them. */
const FAULTS = {
  'open quote': 'a,b,c,d\n1,2,3,"4\n5,6,7,8\n',
  'short row': 'a,b,c,d\n1,2,3\n5,6,7,8\n',
  'long row': 'a,b,c,d\n1,2,3,4,5\n5,6,7,8\n',
  'text after a quote': 'a,b,c,d\n1,2,3,"4"x\n5,6,7,8\n',
  'invalid UTF-8': Buffer.concat([
    Buffer.from('a,b,c,d\n1,2,3,'),
    Buffer.of(0xff),
    Buffer.from('\n5,6,7,8\n'),
  ]),
};

/** Runs a reader in a process of its own. */
function measure(name, path) {
  const { status, stdout } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), path, name], {
    encoding: 'utf8',
  });
  return status === 0 ? JSON.parse(stdout) : undefined;
}

const faults = Object.keys(FAULTS);
if (!file) throw new Error(`usage: node ${self} FILE.csv`);
console.log(`| reader | ${faults.join(' | ')} | rows | s | resident memory, MB |`);
console.log(`|---${'|---'.repeat(faults.length + 3)}|`);
for (const name of Object.keys(READERS)) {
  const answers = faults.map((fault) => {
    const path = join(folder, 'fault.csv');
    writeFileSync(path, FAULTS[fault]);
    return measure(name, path) ? 'accepted' : 'error';
  });
  const { rows, seconds, bytes } = measure(name, file) ?? {};
  const figures =
    rows === undefined ? ['failed', '', ''] : [rows, seconds.toFixed(1), Math.round(bytes / 1e6)];
  console.log(`| ${name} | ${answers.join(' | ')} | ${figures.join(' | ')} |`);
}
