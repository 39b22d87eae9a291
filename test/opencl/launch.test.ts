/** Objects that a launch keeps alive until it has run. */
import test from 'ava';
import { where } from '../where.js';
import { opened } from './devices.js';
import { run } from './run.js';

for (const { name, images } of opened) {
  for (const way of ['argument', 'kernel', 'task', 'list', 'call']) {
    // A device without images has no kernels that write them.
    where(
      images,
      'no images',
      test.serial,
    )(
      `${name}: an image that a kernel writes stays valid after its release until the kernel has run: ${way}`,
      async (t) => {
        // Freed memory is overwritten, so that its use is noticed.
        const { code, signal, stdout, stderr } = await run('image-in-flight', [name, way], {
          MALLOC_PERTURB_: '165',
        });
        t.is(signal, null, stderr);
        t.is(code, 0, stderr);
        t.is(stdout.trim(), '[200,200,200,200]');
      },
    );
  }
}
