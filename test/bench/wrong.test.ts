/** A result that changed on its way from the device is reported as wrong, without a time. */
import { writeFileSync } from 'node:fs';
import test from 'ava';
import type { Claim } from '../../src/bench/ladder/claims.js';
import type { LadderRow } from '../../src/bench/ladder/ladder-row.js';
import type { SortRow } from '../../src/bench/sorts.js';
import { clsort, type Ran, scratchFolder } from '../cli/cli.js';
import { LayerControl, layerEnvironment } from '../layer/layer.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

/**
 * Runs the command under the layer.
 * @param at number of the read whose first bit flips; default: none
 */
async function bench(args: readonly string[], at?: number): Promise<Ran & { reads: number }> {
  const file = path(`${args.join('-')}-${at ?? 0}`);
  writeFileSync(file, new Uint8Array(8192));
  const control = new LayerControl(file);
  try {
    if (at !== undefined) control.corrupt(at, 1);
    const ran = await clsort(['bench', ...args], { env: layerEnvironment(file) });
    return { ...ran, reads: control.calls.reads };
  } finally {
    control.close();
  }
}

/** Steps of the ladder of scans, in order, without the host step. */
const STEPS = ['sweep', 'padded', 'tile', 'hillis_steele', 'single_pass'];
/** Each step runs once to warm up, and five times. */
const ROUNDS = 6;
const LADDER = ['ladder', 'scan', '--count', '1000', '--repeats', '5'];

test.serial(
  'clsort bench ladder reports a corrupted step as wrong, without a time, and exits with 1',
  async (t) => {
    const clean = await bench([...LADDER, '--json']);
    t.is(clean.code, 0, clean.err);
    t.is(clean.reads, STEPS.length * ROUNDS);
    for (const [step, round] of [
      ['sweep', 0],
      ['padded', 5],
      ['tile', 2],
      ['single_pass', 3],
    ] as const) {
      const at = STEPS.indexOf(step) * ROUNDS + round + 1;
      const ran = await bench([...LADDER, '--json'], at);
      t.is(ran.code, 1, ran.err);
      const rows: LadderRow[] = JSON.parse(ran.out).rows;
      const wrong = rows.filter(({ result }) => result === 'wrong');
      t.deepEqual(
        wrong.map((row) => row.step),
        [step],
      );
      const { kernelSeconds, seconds, endToEndSeconds, bytesPerSecond, speedup } = wrong[0] as LadderRow;
      t.deepEqual(
        [kernelSeconds, seconds, endToEndSeconds, bytesPerSecond, speedup],
        [null, null, null, null, null],
      );
      // A wrong first step leaves no baseline.
      const related = rows.filter(({ primitive }) => primitive === wrong[0]?.primitive);
      t.is(related.at(-1)?.speedup === null, step === 'sweep');
      const claims: Claim[] = JSON.parse(ran.out).claims;
      t.true(claims.some(({ holds, reason }) => holds === null && reason === `${step}: wrong`));
    }
    const text = await bench(LADDER, 1);
    t.is(text.code, 1, text.err);
    t.regex(text.out, /^scan +sweep +wrong( +n\/a){7}/m);
    t.regex(text.out, /^scan +padded +right +\S+ +\S+/m);
  },
);

test.serial(
  'clsort bench sorts reports a row as wrong if any result is corrupted, and exits with 1',
  async (t) => {
    const args = ['sorts', '--count', '1000', '--algorithm', 'merge', '--repeats', '2', '--json'];
    await bench(args); // runs the self-test of the algorithm
    const clean = await bench(args);
    t.is(clean.code, 0, clean.err);
    t.is(clean.reads, 5); // one to check, two to time whole calls, two to time kernels
    for (let at = 1; at <= clean.reads; at++) {
      const ran = await bench(args, at);
      t.is(ran.code, 1, ran.err);
      const [row]: SortRow[] = JSON.parse(ran.out).rows;
      t.is(row?.result, 'wrong', `read ${at}`);
      t.is(row?.kernel, undefined);
      t.is(row?.endToEnd, undefined);
      t.is(row?.keysPerSecond, undefined);
    }
    const text = await bench(['sorts', '--count', '1000', '--algorithm', 'merge', '--repeats', '1'], 1);
    t.is(text.code, 1, text.err);
    t.regex(text.out, /wrong/);
  },
);
