/** User events that fail, with all that waits for them. */
import test from 'ava';
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
    )(`${name}: commands fail with a user event: ${way}`, async (t) => {
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
}
