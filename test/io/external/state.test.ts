import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { State } from '../../../src/io/external/state.js';
import { IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

test('a state folder that is removed or replaced by a file is an error that names it', async (t) => {
  mkdirSync(path('out'));
  const folder = path('out/state');
  const state = await State.open(folder);
  await state.put('sort-0001', {});
  t.true(await state.has('sort-'));
  const refused = { instanceOf: IoError, message: /^cannot (read|write) .*out\/state: / };
  rmSync(folder, { recursive: true });
  await t.throwsAsync(state.has('sort-'), refused);
  await t.throwsAsync(state.remove({ keepFolder: true }), refused);
  await state.remove();
  rmSync(path('out'), { recursive: true });
  writeFileSync(path('out'), 'a file');
  await t.throwsAsync(state.has('sort-'), refused);
  await t.throwsAsync(state.remove(), refused);
  t.true(existsSync(path('out')));
});
