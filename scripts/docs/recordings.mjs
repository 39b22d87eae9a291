#!/usr/bin/env node
// Regenerates docs/course/recordings: the output of `clsort explain` that pages of the course show to readers without a
// device.
//
//   node scripts/docs/recordings.mjs        (after `npm run build`, with an OpenCL device; CI has PoCL)
//
// A recording contains the command and its --json output, without the device's name and times.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { docs, root } from './pages.mjs';

export const folder = join(docs, 'course', 'recordings');

/** Arguments of `clsort explain` by name of the recording. */
export const RECORDINGS = {
  'reduce-interleaved': '--algorithm reduce --step interleaved --random 64 --max 100',
  'reduce-compacted': '--algorithm reduce --step compacted --random 64 --max 100',
  'reduce-halving': '--algorithm reduce --step halving --random 64 --max 100',
  'scan-hillis-steele': '--algorithm scan --step hillis_steele --random 16 --max 10',
  'scan-sweep': '--algorithm scan --step sweep --random 64 --max 10',
  'histogram-bins': '--algorithm histogram --step private_bins --random 32 --max 16 --bits 4',
  'histogram-items': '--algorithm histogram --step private_items --random 32 --max 16 --bits 4',
  split: '--algorithm split 7 14 4 1 9 2 12 5 --bits 4',
  amd: '--algorithm amd --random 16 --max 16 --bits 4',
  bitonic: '--algorithm bitonic --random 16 --max 100',
  'odd-even': '--algorithm odd-even --random 8 --max 100',
  merge: '--algorithm merge --random 32 --max 100',
  row: '--algorithm row --random 16 --max 16 --bits 4',
};

const explain = (args) =>
  JSON.parse(
    execFileSync(
      process.execPath,
      [
        join(root, 'scripts/run.mjs'),
        join(root, 'dist/src/cli/main.js'),
        'explain',
        ...args.split(' '),
        '--json',
      ],
      { encoding: 'utf8', maxBuffer: 2 ** 26 },
    ),
  );

/**
 * Returns the current recording of a command.
 *
 * @throws Error when the command fails
 */
export function record(args) {
  const explanation = explain(args);
  return {
    command: `clsort explain ${args}`,
    explanation: {
      ...explanation,
      device: 'PoCL, a CPU',
      steps: explanation.steps.map((step) => ({ ...step, cost: { ...step.cost, kernelSeconds: null } })),
    },
  };
}

/** Formats a recording with one line per step and per kernel, so that changes are readable. */
function textOf({ command, explanation: { steps, sources, ...rest } }) {
  const lines = (values) => values.map((value) => `\n${JSON.stringify(value)}`).join(',');
  const ofSources = Object.entries(sources).map(
    ([name, source]) => `\n${JSON.stringify(name)}:${JSON.stringify(source)}`,
  );
  return `{"command":${JSON.stringify(command)},
"explanation":{${JSON.stringify(rest).slice(1, -1)},
"steps":[${lines(steps)}],
"sources":{${ofSources.join(',')}}}}
`;
}

export const kept = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
export const recordedNames = () => readdirSync(folder).map((file) => file.replace(/\.json$/, ''));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const texts = Object.entries(RECORDINGS).map(([name, args]) => [name, textOf(record(args))]);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of texts) writeFileSync(join(folder, `${name}.json`), text);
  console.log(
    `${texts.length} recordings, ${Math.round(texts.reduce((sum, [, text]) => sum + text.length, 0) / 1000)} kB`,
  );
}
