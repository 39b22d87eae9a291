#!/usr/bin/env node
// Fuzzes calls on three PoCL devices, with arrays sharded over them and arrays on one of them, and with faults, delays,
// aborts and disposals. The results are compared with the host engine:
//
//   node scripts/fuzz-multi-device.mjs [--seconds N] [--seed S] [--replay SEED]
//
//   --seconds  time during which rounds are started; default 60
//   --seed     seed of the first round, incremented for each further one; default: random, and printed
//   --replay   runs the round of this seed once
//
// A failed round is printed with its seed and its calls. Needs `npm run build`.

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
