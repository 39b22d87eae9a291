import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import test from 'ava';
import { partPath, ResumableOutput } from '../../../src/io/external/resumable-output.js';
import { IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

test('an output written in any order and in two runs becomes visible when complete', async (t) => {
  mkdirSync(path('runs'));
  const out = path('runs/out');
  writeFileSync(out, 'before', { mode: 0o640 });
  const part = ResumableOutput.partName(out);
  const first = await ResumableOutput.open(out, part);
  await first.write(3, Buffer.from('def'));
  await first.sync();
  await first.keep();
  t.is(readFileSync(out, 'utf8'), 'before');
  const second = await ResumableOutput.open(out, part);
  await second.write(0, Buffer.from('abc'));
  await second.write(6, Buffer.from('left over'));
  await second.commit(6);
  t.is(readFileSync(out, 'utf8'), 'abcdef');
  t.is(statSync(out).mode & 0o777, 0o640);
  t.deepEqual(readdirSync(path('runs')), ['out']);
});

test('a link stays a link, and the part file is beside its target', async (t) => {
  mkdirSync(path('links'));
  mkdirSync(path('links/real'));
  symlinkSync('real/file', path('links/out'));
  const placed = await ResumableOutput.open(path('links/out'), 'part');
  t.true(existsSync(await partPath(path('links/out'), 'part')));
  t.deepEqual(readdirSync(path('links/real')), ['part']);
  await placed.write(0, Buffer.from('x'));
  await placed.commit(1);
  t.is(readFileSync(path('links/real/file'), 'utf8'), 'x');
  t.true(readdirSync(path('links')).includes('out'));
});

test('a missing folder is an IoError that names the output', async (t) => {
  for (const open of [ResumableOutput.assertWritable, (out: string) => ResumableOutput.open(out, 'part')]) {
    await t.throwsAsync(async () => open(path('no/such/out')), {
      instanceOf: IoError,
      message: /no\/such\/out/,
    });
  }
});

test('part names are unique and within the length limit', (t) => {
  const name = ResumableOutput.partName(`/a/${'数'.repeat(85)}`);
  t.true(Buffer.byteLength(name) <= 255);
  t.not(ResumableOutput.partName('/a/b'), ResumableOutput.partName('/a/b'));
});

test('concurrent sync calls share one sync, and a sync after leave rejects', async (t) => {
  mkdirSync(path('syncs'));
  const out = path('syncs/out');
  const placed = await ResumableOutput.open(out, ResumableOutput.partName(out));
  const [first, second] = [placed.sync(), placed.sync()];
  t.is(first, second);
  await first;
  const third = placed.sync();
  t.not(third, first);
  await third;
  await placed.keep();
  await t.throwsAsync(placed.sync(), { instanceOf: IoError });
  await t.throwsAsync(placed.sync(), { instanceOf: IoError });
});
