/** Decisions that depend on dedicated device memory, on PoCL under the profiles of GPUs. */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ava from 'ava';
import { scratchFolder } from '../../cli/cli.js';
import { profileEnvironment } from '../../device/profiled.js';
import { profileNamed } from '../../device/profiles.js';
import { tellingFixture } from '../../layer/fixture.js';

const test = ava.serial; // each sorts some MiB
const { path, remove } = scratchFolder();
ava.after.always(remove);

const fixture = fileURLToPath(new URL('./fixtures/dedicated-memory.js', import.meta.url));

const DEDICATED = { hasDedicatedMemory: true, partitions: 2, onDevice: true, inPartitions: false };
const SHARED = { hasDedicatedMemory: false, partitions: 3, onDevice: false, inPartitions: true };

for (const [key, ways] of [
  ['t4', DEDICATED],
  ['vega-8', SHARED],
  ['apple-m1', SHARED],
] as const) {
  test(`files are sorted on ${key} as on a device with ${ways === SHARED ? 'shared' : 'dedicated'} memory`, async (t) => {
    mkdirSync(path(key));
    const env = { ...process.env, ...profileEnvironment(profileNamed(key), path(key)) };
    const output = await tellingFixture(fixture, { folder: path(key) }, { env, silenceSeconds: 900 });
    t.deepEqual(output, { outcomes: [ways] });
  });
}
