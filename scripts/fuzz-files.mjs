#!/usr/bin/env node
// Fuzzes the file readers with randomly changed bytes in files of every format. Stops at the first case that crashes a
// reader, reads differently from a file and from a pipe, or allocates memory by a size that the file claims:
//
//   node scripts/fuzz-files.mjs [--seconds N] [--seed S] [--only NAME] [--replay SEED [--subprocess]]
//
//   --seconds  duration; default 60
//   --seed     seed of the first case; default: random, and printed
//   --only     only files whose names contain this, such as npy
//   --replay   repeats one case with a stack trace; with --subprocess, a case of the formats that a subprocess reads
//
// Needs `npm run build`. The files are defined in test/io/fuzz/subjects.ts.

import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { attempt } from '../dist/test/io/fuzz/hunt.js';
import { subjects, subprocessSubjects } from '../dist/test/io/fuzz/subjects.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    replay: { type: 'string' },
    subprocess: { type: 'boolean', default: false },
  },
});

const named = ({ name }) => name.includes(values.only);
const own = (await subjects()).filter(named);
const subprocess = (await subprocessSubjects()).filter(named);
const folder = mkdtempSync(join(tmpdir(), 'clsort-fuzz-files-'));
const tally = { cases: 0, read: 0, refused: 0 };
const first = Number(values.replay ?? values.seed ?? randomInt(2 ** 31));
const groups = [own, subprocess].filter(({ length }) => length > 0);
if (groups.length === 0) throw new Error(`no file has '${values.only}' in its name`);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/**
 * Fuzzes one group for its share of the time. Cases of subprocess readers take a thousand times as long as cases in
 * this process.
 */
async function hunt(group) {
  const end = performance.now() + (Number(values.seconds) * 1000) / groups.length;
  for (let seed = first; performance.now() < end; seed++) await attempt(group, seed, folder, tally);
  console.log(`${tally.cases} files: ${tally.read} read, ${tally.refused} refused`);
}

console.log(
  `seed ${first}, ${own.length + subprocess.length} kinds of files, ${subprocess.length} of them read by a subprocess`,
);
try {
  if (values.replay) await attempt(values.subprocess ? subprocess : own, first, folder, tally);
  else for (const group of groups) await hunt(group);
} catch (error) {
  console.error(error.message);
  if (values.replay) console.error(error.cause);
  process.exitCode = 1;
}
const { maxRSS } = process.resourceUsage();
console.log(
  `${tally.cases} files: ${tally.read} read, ${tally.refused} refused; ${Math.round(maxRSS / 1024)} MiB at most`,
);
