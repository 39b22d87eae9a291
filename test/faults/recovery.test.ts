import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { layerEnvironment } from '../layer/layer.js';

const fixture = fileURLToPath(new URL('./fixtures/recovery.js', import.meta.url));

interface Told {
  readonly name: string;
  readonly outcomes: readonly (boolean | string)[];
  readonly warnings: readonly string[];
}

test('a lost device is opened again: host data is sorted once more, device arrays are gone, deadlines are kept', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-recovery-'));
  const control = join(folder, 'control');
  writeFileSync(control, '');
  const { stdout } = await promisify(execFile)(process.execPath, [fixture, 'Portable Computing Language'], {
    env: { ...process.env, ...layerEnvironment(control), CLSORT_CACHE_DIR: join(folder, 'cache') },
    timeout: 120_000,
  });
  rmSync(folder, { recursive: true });
  const told = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Told);
  const once = ['ERR_CLSORT_DEVICE_LOST'];
  t.deepEqual(told, [
    { name: 'lost -36', outcomes: [true, true], warnings: once },
    { name: 'lost -14', outcomes: [true, true], warnings: once },
    { name: 'lost -5', outcomes: [true, true], warnings: once },
    { name: 'lost in topK', outcomes: [true, true], warnings: once },
    {
      name: 'lost with a device array',
      outcomes: ['DeviceLostError', 'DeviceLostError', true],
      warnings: [],
    },
    { name: 'a deadline', outcomes: ['TimeoutError', true], warnings: [] },
  ]);
});
