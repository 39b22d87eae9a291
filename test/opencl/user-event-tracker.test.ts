/** User events that fail, and the commands that wait for them. */
import test from 'ava';
import { underLayer } from '../layer/layer.js';
import { where } from '../where.js';
import { opened } from './devices.js';
import { run } from './run.js';

for (const { name, version, singleThreaded, userEvents } of opened) {
  const able = version >= 200 && userEvents && !singleThreaded;
  for (const way of ['twoUserEvents', 'behindOthers', 'migrations', 'atOnce', 'anything']) {
    where(
      able,
      'commands cannot fail with a user event here',
      test.serial,
    )(`${name}: commands fail with the user event that they wait for: ${way}`, async (t) => {
      for (const seed of way === 'anything' ? ['1', '2', '3'] : ['1']) {
        const { code, signal, stdout, stderr } = await run('failing', [name, way, seed], {}, 120, [
          '--expose-gc',
        ]);
        t.is(signal, null, stderr);
        t.is(code, 0, stderr);
        t.is(stdout.trim(), 'ended well');
      }
    });
  }

  where(
    able && name === 'pocl',
    'only PoCL gives up commands that end at that moment',
    test.serial,
  )(`${name}: a user event fails only after three polls that find no running command`, async (t) => {
    const { result, control } = await underLayer((env) => run('stillness', [name], env));
    control.close();
    t.is(result.code, 0, result.stderr);
    // A waiting marker, and one in each of two queues from before the user event: more polls while those still run.
    t.true(Number(result.stdout) >= 3 * 3, result.stdout);
  });
}
