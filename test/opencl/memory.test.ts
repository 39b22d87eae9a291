import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { native } from '../../src/opencl/binding.js';
import * as cl from '../../src/opencl/index.js';
import { opened } from './devices.js';
import { run } from './run.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

for (const { name, context, version } of opened) {
  test.serial(
    `${name}: V8 counts the memory of handles as external until they are released or collected`,
    async (t) => {
      const bytes = 1 << 26;
      const known = (): number => native().externalBytes();
      const settle = async () => {
        for (let i = 0; i < 3; i++) {
          collectGarbage();
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      };
      await settle();
      const before = known();
      const more = () => Math.round((known() - before) / bytes);
      const make = () => cl.createBuffer(context, cl.MEM_READ_WRITE, bytes);
      const [released, later] = [make(), make()];
      (() => make())(); // and dropped
      t.is(more(), 3);
      cl.releaseMemObject(released);
      cl.releaseAsync(later);
      t.is(more(), 1);
      await settle();
      t.is(more(), 0);
      const retained = make();
      cl.retainMemObject(retained);
      cl.releaseMemObject(retained);
      t.is(more(), 1);
      cl.releaseMemObject(retained);
      t.is(more(), 0);
      if (version >= 110) {
        const whole = make();
        const part = cl.createSubBuffer(whole, 0, cl.BUFFER_CREATE_TYPE_REGION, { origin: 0, size: bytes });
        t.is(more(), 1, 'a part is no memory of its own');
        cl.releaseMemObject(part);
        cl.releaseMemObject(whole);
      }
      const host = new Uint8Array(64);
      cl.releaseMemObject(cl.createBuffer(context, cl.MEM_USE_HOST_PTR, 64, host));
      t.true(Math.abs(known() - before) < 1 << 20, `${known() - before}`);
    },
  );

  test.serial(`${name}: 400 unreferenced buffers of 16 MiB do not exhaust the memory`, async (t) => {
    const { code, stdout, stderr } = await run('dropped', [name, '400', String(1 << 24)]);
    t.is(code, 0, stderr);
    const { peak, left } = JSON.parse(stdout) as { peak: number; left: number };
    t.true(peak < 1.5 * 2 ** 30, `${peak / 2 ** 20} MiB`); // 6,400 MiB unknown to V8
    t.true(Math.abs(left) < 1 << 20, `V8 still counts ${left} bytes after releaseAll`);
  });
}
