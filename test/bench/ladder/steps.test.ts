/** Every step of every ladder, on devices. */
import test from 'ava';
import { ladder } from '../../../src/bench/ladder/ladder.js';
import type { LadderRow } from '../../../src/bench/ladder/ladder-row.js';
import { forEachDevice } from '../../each-device.js';

const STEPS: Readonly<Record<string, readonly string[]>> = {
  'reduce sum': ['interleaved', 'compacted', 'halving', 'two_loads', 'unrolled', 'grid', 'subgroups'],
  'scan prefix sums': ['sweep', 'padded', 'tile', 'hillis_steele', 'single_pass'],
  'histogram 64 bins': ['global', 'private_items', 'private_bins', 'permuted', 'tagged', 'waves'],
  'histogram 256 bins': ['global', 'tagged', 'waves'],
  'histogram image of bytes': ['bytes_scalar', 'bytes_vector'],
  'histogram merge of groups': ['merge_serial', 'merge_parallel'],
  'sorts network': ['bitonic_global', 'bitonic_alternating', 'bitonic_local', 'odd_even'],
  'sorts merge of runs of 512': ['merge_short', 'merge_middle', 'merge_long'],
  'sorts rows of 32': ['votes_masks', 'votes_khr', 'votes_ptx'],
  'sorts scan of blocks': ['amd_scan_one_bin', 'amd_scan_16_bins'],
  'sorts move of a pass': ['amd_permute_64_blocks', 'amd_permute_one_block'],
};

forEachDevice((title, device) => {
  test.serial(title('the ladder measures each step and the host, and every result is correct'), async (t) => {
    const { capabilities, info } = await device();
    const measuredSteps: LadderRow[] = [];
    const counts = [2048, 5003];
    const { rows, claims } = await ladder({
      devices: [info.id],
      counts,
      rounds: 1,
      onRow: (row) => measuredSteps.push(row),
    });
    t.deepEqual(rows, measuredSteps);
    for (const n of counts) {
      const here = rows.filter((row) => row.n === n);
      for (const [task, steps] of Object.entries(STEPS)) {
        const own = here.filter((row) => `${row.primitive} ${row.task}` === task);
        t.deepEqual(
          own.map(({ step }) => step),
          [...steps, 'host'],
          task,
        );
        t.is(own[0]?.speedup, 1, task);
      }
    }
    const needs: Readonly<Record<string, boolean>> = {
      subgroups: capabilities.extensions.has('cl_khr_subgroups') || capabilities.hasBallot,
      single_pass: !Number.isFinite(capabilities.quirks.maxLoopIterations),
      votes_khr: capabilities.votes.has('khr'),
      votes_ptx: capabilities.votes.has('ptx'),
    };
    for (const row of rows) {
      const { step, n, reason = '' } = row;
      if (needs[step] === false || (step === 'bitonic_alternating' && n === 5003)) {
        t.is(row.result, 'unsupported', step);
        t.not(reason, '', step);
        continue;
      }
      t.is(row.result, 'right', `${row.task} ${step} ${n} ${reason}`);
      const { seconds, endToEndSeconds, bytesPerSecond } = row;
      t.true(seconds !== null && endToEndSeconds !== null && seconds > 0 && endToEndSeconds >= seconds);
      t.true(bytesPerSecond !== null && bytesPerSecond > 0);
    }
    t.true(claims.length > 2 * 20);
    for (const { claim, holds, reason } of claims)
      t.true(holds === null || /\d ms/.test(reason), `${claim}: ${reason}`);
    t.is(claims.filter(({ claim }) => /beats the host/.test(claim)).length, 2 * Object.keys(STEPS).length);
  });
});
