#!/usr/bin/env node
// Random calls on three devices of PoCL, on arrays that are spread over them and on those that they share, with faults,
// delays, aborts and disposals amidst them, against the host engine:
//
//   node scripts/fuzz-multi-device.mjs [--seconds N] [--seed S] [--replay SEED]
//
//   --seconds  how long rounds are begun; default 60
//   --seed     of the first round, each next one has the next; by default another one each time, which is printed
//   --replay   plays the round of this seed once
//
// A round that goes wrong is printed with its seed and with what it did. Needs `npm run build`.

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { hunt } from '../dist/test/sort/multi-device/fuzz/hunt.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    replay: { type: 'string' },
  },
});
const seed = Number(values.replay ?? values.seed ?? randomInt(2 ** 31));
console.log(`seed ${seed}`);
const isReplay = values.replay !== undefined;
const { played, failures, tally } = await hunt({
  seed,
  rounds: isReplay ? 1 : Number.POSITIVE_INFINITY,
  seconds: isReplay ? Number.POSITIVE_INFINITY : Number(values.seconds),
  onFailure: console.log,
});
console.log(`${played} rounds: ${JSON.stringify(tally)}; ${failures.length} went wrong`);
process.exitCode = failures.length === 0 ? 0 : 1;
