import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ava from 'ava';
import { OPERATIONS } from '../../../scripts/peers/operations.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { packageRoot } from '../../../src/util/paths.js';
import { scratchFolder } from '../../cli/cli.js';
import { forEachDevice } from '../../each-device.js';

forEachDevice((title, open, small) => {
  for (const dtype of ['u32', 'u64'] as const) {
    ava.serial(title(`operations on ${dtype} keys return the results of the host engine`), async (t) => {
      const device = await open();
      const host = await Sorter.open({ device: 'host' });
      t.teardown(() => host.close());
      for (const { name, inputs, expected, prepare } of OPERATIONS) {
        const made = inputs(dtype, small ? 1500 : 70_000);
        const wanted = await expected(host, made);
        const sizes = wanted.map(({ byteLength }) => byteLength);
        const prepared = await prepare(device, made, sizes);
        for (let i = 0; i < 2; i++) {
          prepared.poison();
          await prepared.enqueue();
          await device.queue.finish();
          t.deepEqual(await prepared.read(), wanted, name);
        }
        prepared.poison();
        await device.queue.finish();
        t.notDeepEqual(await prepared.read(), wanted, `${name}: what is left shows`);
        prepared.release();
      }
    });
  }
});

ava.serial('the CUB program has operations of the same names', (t) => {
  const source = readFileSync(join(packageRoot, 'scripts/peers/cub-operations.cu'), 'utf8');
  const names = [...source.matchAll(/operation == "(\w+)"/g)].map(([, name]) => name);
  t.deepEqual(
    OPERATIONS.map(({ name }) => name).filter((name) => !/^(segments|topK|topRows)-/.test(name)),
    names,
  );
  for (const name of ['segments', 'topK']) t.true(source.includes(`operation.rfind("${name}", 0)`));
  t.true(source.includes('"topRows-%u-%u"'));
});

ava.serial('the script compares each row with CUB and fails on a wrong CUB result', (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const script = join(packageRoot, 'dist/scripts/bench-operations.js');
  const cub = path('cub');
  const run = (answer: string, ...more: string[]) => {
    // It answers only if the files are as the program expects them.
    writeFileSync(
      cub,
      `#!/bin/sh\n[ "$1" = --version ] && echo 3.6.0 && exit\n[ "$2" = 64 ] && [ -s "$3/keys" ] && [ -s "$3/expected.0" ] && echo '${answer}'\n`,
    );
    chmodSync(cub, 0o755);
    const args = ['--device', 'cpu', '--sizes', '8', '--dtypes', 'u64', '--operations', 'scan,segments-32'];
    return spawnSync(
      process.execPath,
      [script, ...args, '--repeats', '1', '--cub', cub, '--json', path('rows'), ...more],
      { encoding: 'utf8' },
    );
  };
  const right = run('{"int": {"ok": true, "alone": 2, "queued": 1}, "size_t": {"ok": false}}');
  t.is(right.status, 1, 'a form of CUB is wrong');
  t.is(right.stdout.trimEnd().split('\n').length, 2 + 2, right.stderr);
  t.regex(right.stdout, /\| scan \| u64 \| 256 \| ok \|.*\| 1\.000 \| wrong \|/);
  const { rows } = JSON.parse(readFileSync(path('rows'), 'utf8'));
  t.deepEqual(
    rows.map(({ operation, n, result, cubVersion }: Record<string, unknown>) => [
      operation,
      n,
      result,
      cubVersion,
    ]),
    ['scan', 'segments-32'].map((name) => [name, 256, 'ok', '3.6.0']),
  );
  const well = run('{"int": {"ok": true, "alone": 2, "queued": 1}}');
  t.is(well.status, 0, well.stderr);

  const tunings = run('{"int": {"ok": true, "alone": 2, "queued": 1}}', '--tunings', '[{}, {"rounds": 2}]');
  t.is(tunings.status, 0, tunings.stderr);
  const tried = JSON.parse(readFileSync(path('rows'), 'utf8')).rows;
  t.deepEqual(
    tried.map(({ operation, tuning }: Record<string, unknown>) => [operation, tuning]),
    ['scan', 'segments-32'].flatMap((name) => [{}, { rounds: 2 }].map((tuning) => [name, tuning])),
  );
  const unknown = run('{}', '--tunings', '[{"round": 2}]');
  t.not(unknown.status, 0);
  t.regex(unknown.stderr, /but got "round"\. Did you mean "rounds"/);
});
