import test from 'ava';
import { defineOptions, programSource } from '../../../src/device/programs/program-source.js';

test('each include is inserted once, with #line directives that name the original file', (t) => {
  const source = programSource('amd_radix.cl');
  t.false(/^\s*#\s*include/m.test(source));
  t.is(source.match(/#line 1 "common\.clh"/g)?.length, 1);
  t.is(source.match(/#line 1 "key_codec\.clh"/g)?.length, 1);
  t.true(source.startsWith('#line 1 "amd_radix.cl"'));
  // The line after the include keeps its own number.
  const lines = source.split('\n');
  const back = lines.findIndex(
    (line) => /^#line \d+ "amd_radix\.cl"$/.test(line) && !line.includes('#line 1 '),
  );
  const number = Number(lines[back]?.split(' ')[1]);
  const original = programSource('amd_radix.cl').includes('#if GROUP_SIZE > 64');
  t.true(original && number > 1);
});

test('the order of defines does not change the options', (t) => {
  t.deepEqual(defineOptions({ B: 2, A: 1 }), ['-DA=1', '-DB=2']);
});
