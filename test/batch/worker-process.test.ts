import { writeFileSync } from 'node:fs';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import type { Job } from '../../src/batch/jobs.js';
import { lastMessageLine, WorkerLostError, WorkerProcess } from '../../src/batch/worker-process.js';
import { scratchFolder } from '../cli/cli.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

test('lastSaid returns the line of the output that gives the reason for the exit', (t) => {
  const { stack } = new Error('too many open files');
  t.is(lastMessageLine(`something before\n${stack}\n\nNode.js v20.20.2\n`), 'Error: too many open files');
  t.is(lastMessageLine('terminate called after throwing\n  what():  bad\n'), '  what():  bad');
  t.is(lastMessageLine(''), '');
});

test('every job assigned to a worker process before it is reported lost settles', async (t) => {
  writeFileSync(path('a.u32'), new Uint8Array(4000));
  const job: Job = { name: 'a', in: path('a.u32'), out: path('a.sorted'), dtype: 'u32' };
  let isLost = false;
  const onLost = () => {
    isLost = true;
  };
  const facts = { device: 'host', parallel: 1, idleBytes: 0 };
  const worker = await WorkerProcess.open(facts, { onWarning: () => undefined, onLost });
  const completions: Promise<unknown>[] = [];
  const give = () => completions.push(worker.run(job, 2 ** 20, () => undefined).done.catch((error) => error));
  give();
  worker.kill();
  while (!isLost) {
    give();
    await turn();
  }
  const ends = await Promise.race([Promise.all(completions), sleep(20_000, 'never')]);
  t.not(ends, 'never', `${completions.length} jobs`);
  t.true((ends as unknown[]).some((end) => end instanceof WorkerLostError));
});
