import { readFileSync } from 'node:fs';
import test from 'ava';
import { explainSort } from '../../src/explain/explain.js';
import { EXPLAINED } from '../../src/explain/explained.js';
import { agree } from '../../src/explain/explanation.js';
import { explanationHtml } from '../../src/explain/html.js';
import { guessDtype, keyText, parseKey } from '../../src/explain/keys.js';
import { explanationText } from '../../src/explain/text.js';
import { MismatchError, UnsupportedError, UsageError } from '../../src/util/errors.js';
import { clsort, scratchFolder } from '../cli/cli.js';
import { forEachDevice } from '../each-device.js';

const WORDS = ['7', '14', '4', '1'];

forEachDevice((title, device) => {
  test.serial(title('the worked example: 7 14 4 1 by four single bits'), async (t) => {
    const { steps, sorted } = await explainSort(await device(), WORDS, { bits: 4 });
    t.deepEqual(
      steps.map(({ after }) => after.join(' ')),
      ['14 4 7 1', '4 1 14 7', '1 4 14 7', '1 4 7 14'],
    );
    t.is(steps[0]?.newIndex.join(' '), '2 0 1 3');
    const first = Object.fromEntries(
      steps[0]?.lines.map(({ name, values }) => [name, values.join(' ')]) ?? [],
    );
    t.is(first.binary, '0111 1110 0100 0001');
    t.is(first.histogram, '2 2');
    t.is(first['exclusive prefix sum'], '0 2');
    t.is(first.offset, '0 0 1 1');
    t.deepEqual(sorted, ['1', '4', '7', '14']);
  });

  for (const algorithm of EXPLAINED) {
    test.serial(
      title(`${algorithm} explains ties, directions, floats and sizes that are no power of two`),
      async (t) => {
        const opened = await device();
        for (const words of [['5'], ['3', '3', '1'], ['9', '2', '9', '0', '2', '255', '2']]) {
          const up = await explainSort(opened, words, { algorithm, bits: 8 });
          t.deepEqual(
            up.sorted,
            words.toSorted((a, b) => Number(a) - Number(b)),
          );
          const down = await explainSort(opened, words, { algorithm, dtype: 'u8', descending: true });
          t.deepEqual(
            down.sorted,
            words.toSorted((a, b) => Number(b) - Number(a)),
          );
        }
        const floats = await explainSort(opened, ['1.5', 'nan', '-0', '0', '-inf', '0.1'], { algorithm });
        t.deepEqual(floats.sorted, ['-Infinity', '-0', '0', '0.1', '1.5', 'NaN']);
      },
    );
  }

  test.serial(title('merge and the long scan chain of amd are explained beyond one tile'), async (t) => {
    const words = Array.from({ length: 150 }, (_, i) => String((i * 37) % 150));
    const sorted = Array.from({ length: 150 }, (_, i) => String(i));
    t.deepEqual((await explainSort(await device(), words, { algorithm: 'merge' })).sorted, sorted);
    t.deepEqual((await explainSort(await device(), words, { algorithm: 'amd', bits: 8 })).sorted, sorted);
  });

  test.serial(title('digits of two bits are split into four bins'), async (t) => {
    const { steps } = await explainSort(await device(), WORDS, { bits: 4, radixBits: 2 });
    t.deepEqual(
      steps.map(({ after }) => after.join(' ')),
      ['4 1 14 7', '1 4 7 14'],
    );
  });

  test.serial(title('what cannot be explained is a typed error'), async (t) => {
    const opened = await device();
    await t.throwsAsync(explainSort(opened, [], {}), { instanceOf: UsageError });
    await t.throwsAsync(explainSort(opened, WORDS, { bits: 40 }), { instanceOf: UsageError });
    await t.throwsAsync(explainSort(opened, WORDS, { algorithm: 'merge', radixBits: 2 }), {
      instanceOf: UsageError,
    });
    const many = Array.from({ length: 65 }, (_, i) => String(i));
    await t.throwsAsync(explainSort(opened, many, { algorithm: 'row' }), { instanceOf: UnsupportedError });
  });
});

test('a number that differs from the model is an error', (t) => {
  t.throws(() => agree('offsets', [0, 1], [0, 2]), { instanceOf: MismatchError, message: /wrote 1 at 1/ });
  t.throws(() => agree('offsets', [0], [0, 2]), { instanceOf: MismatchError });
  t.deepEqual(agree('offsets', [0, 2], [0, 2]), [0, 2]);
});

test('keys are read and written as people do', (t) => {
  t.is(guessDtype(['1', '2']), 'u32');
  t.is(guessDtype(['1', '-2']), 'i32');
  t.is(guessDtype(['1', '2.5']), 'f32');
  for (const [word, dtype] of [
    ['-128', 'i8'],
    ['18446744073709551615', 'u64'],
    ['0.1', 'f32'],
    ['-0', 'f64'],
    ['NaN', 'f64'],
  ] as const) {
    t.is(keyText(parseKey(word, dtype), dtype), word);
  }
  t.throws(() => parseKey('256', 'u8'), { instanceOf: UsageError, message: /0 to 255/ });
  t.throws(() => parseKey('x', 'f32'), { instanceOf: UsageError });
});

test('text has each array on one line, without colour', async (t) => {
  const explanation = {
    schema: 'clsort.explain/1',
    algorithm: 'split',
    device: 'a device',
    dtype: 'u32',
    descending: false,
    bits: [0, 1],
    keys: ['1', '0'],
    sorted: ['0', '1'],
    steps: [
      {
        title: 'pass 0 <b>',
        kernels: ['k'],
        lines: [{ name: 'keys', values: ['1', '0'] }],
        before: ['1', '0'],
        after: ['0', '1'],
        newIndex: [1, 0],
      },
    ],
  } as const;
  const text = explanationText(explanation);
  t.regex(text, /^ {2}keys +1 +0$/m);
  t.false(text.includes('\u001b'));
  const html = explanationHtml(explanation);
  t.notRegex(html, /https?:\/\/(?!www\.w3\.org)/);
  t.false(html.includes('<b>'));
});

test('clsort explain prints text and JSON, and refuses bad keys', async (t) => {
  const text = await clsort(['explain', ...WORDS, '--bits', '4']);
  t.is(text.code, 0, text.err);
  t.regex(text.out, /new index +2 +0 +1 +3\n/);
  t.regex(text.out, /moved +14 +4 +7 +1\n/);
  const json = await clsort(['explain', '-5', '3', '--json', '--', '-2']);
  t.deepEqual(JSON.parse(json.out).sorted, ['-5', '-2', '3']);
  t.is((await clsort(['explain', '7', '300', '--dtype', 'u8'])).code, 2);
  const digits = await clsort(['explain', ...WORDS, '--bits', '4', '--radix-bits', '2', '--json']);
  t.is(JSON.parse(digits.out).steps.length, 2);
  const noDigits = ['--algorithm', 'merge', '--radix-bits', '2'];
  t.is((await clsort(['explain', ...WORDS, ...noDigits])).code, 2);
});

for (const algorithm of EXPLAINED) {
  test.serial(
    `clsort explain --algorithm ${algorithm} prints tables of ASCII, JSON and a page`,
    async (t) => {
      const { path, remove } = scratchFolder();
      t.teardown(remove);
      const page = path('page.html');
      const args = ['explain', '1.5', '0.5', '2', '--algorithm', algorithm, '--dtype', 'f32', '--descending'];
      const text = await clsort(args);
      t.is(text.code, 0, text.err);
      t.regex(text.out, /^[\n -~]+$/, 'ASCII, without colour');
      t.regex(text.out, /^ {2}input +1\.5 0\.5 2$/m);
      t.regex(text.out, /^ {2}sorted +2 1\.5 0\.5$/m);
      const json = await clsort([...args, '--json', '--html', page]);
      t.is(json.code, 0, json.err);
      const explanation = JSON.parse(json.out);
      t.is(explanation.algorithm, algorithm);
      t.deepEqual(explanation.sorted, ['2', '1.5', '0.5']);
      t.true(explanation.steps.length > 0);
      t.regex(readFileSync(page, 'utf8'), /^<!doctype html>/i);
    },
  );
}
