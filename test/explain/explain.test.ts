import { readFileSync } from 'node:fs';
import test from 'ava';
import { type ExplainOptions, explain, MAX_KEYS } from '../../src/explain/explain.js';
import { EXPLAINED, EXPLAINED_NAMES, EXPLAINED_SORTS, type Explained } from '../../src/explain/explained.js';
import { agree } from '../../src/explain/explanation.js';
import { guessDtype, keyText, parseKey } from '../../src/explain/keys.js';
import { randomWords } from '../../src/explain/random.js';
import { explanationText } from '../../src/explain/text.js';
import { MismatchError, UnsupportedError, UsageError } from '../../src/util/errors.js';
import { clsort, scratchFolder } from '../cli/cli.js';
import { forEachDevice } from '../each-device.js';

const WORDS = ['7', '14', '4', '1'];

/** The expected result, computed by plain loops. */
function expected(
  algorithm: Explained,
  words: readonly string[],
  { op = 'sum' }: ExplainOptions = {},
): string[] {
  const numbers = words.map(Number);
  if (EXPLAINED_SORTS.includes(algorithm)) return words.toSorted((a, b) => Number(a) - Number(b));
  if (algorithm === 'reduce') {
    const sum = numbers.reduce((a, b) => a + b, 0);
    return [String({ sum, min: Math.min(...numbers), max: Math.max(...numbers) }[op])];
  }
  if (algorithm === 'scan') {
    let sum = 0;
    return numbers.map((number) => {
      sum += number;
      return String(sum - number);
    });
  }
  return Array.from({ length: 16 }, (_, bin) =>
    String(numbers.filter((number) => number % 16 === bin).length),
  );
}

const STEPS = EXPLAINED_NAMES.flatMap((algorithm): { algorithm: Explained; step: string | undefined }[] =>
  EXPLAINED[algorithm].length > 0
    ? EXPLAINED[algorithm].map((step) => ({ algorithm, step }))
    : [{ algorithm, step: undefined }],
);

/** Every run has another seed, which failures report. */
const seed = BigInt(Date.now());

forEachDevice((title, device, small) => {
  test.serial(title('the worked example sorts 7 14 4 1 by four single bits'), async (t) => {
    const { steps, sorted } = await explain(await device(), WORDS, { bits: 4 });
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
    t.is(first['scan s of the bits'], '0 1 1 1');
    t.is(first['zeros: i - s'], '- 0 1 -');
    t.is(first['ones: 2 + s'], '2 - - 3');
    t.deepEqual(sorted, ['1', '4', '7', '14']);
  });

  for (const { algorithm, step } of STEPS) {
    const name = step === undefined ? algorithm : `${algorithm} ${step}`;
    test.serial(title(`${name} is correct for random keys, by its model and by plain loops`), async (t) => {
      const opened = await device();
      const power = step === 'alternating';
      for (const n of power
        ? [1, 2, 16, 64]
        : [1, 2, 5, 33, 64, ...(algorithm === 'row' || small ? [] : [200])]) {
        const words = randomWords(n, { max: 256, seed });
        const options = { algorithm, ...(step !== undefined && { step }) };
        const bits = EXPLAINED_SORTS.includes(algorithm) ? { bits: 8 } : {};
        const asked = explain(opened, words, { ...options, ...bits });
        const { capabilities } = opened;
        const lacks =
          ((step === 'khr' || step === 'ptx') && !capabilities.votes.has(step)) ||
          (step === 'single_pass' && Number.isFinite(capabilities.quirks.maxLoopIterations)) ||
          (step === 'subgroups' &&
            !capabilities.hasBallot &&
            !capabilities.extensions.has('cl_khr_subgroups'));
        if (lacks) {
          await t.throwsAsync(asked, {
            instanceOf: UnsupportedError,
            message: /does not support|the device has no|ends long loops/,
          });
          continue;
        }
        const { result, steps } = await asked;
        t.deepEqual(result, expected(algorithm, words), `seed ${seed}, ${n} keys: ${words.join(' ')}`);
        for (const { cost, source, title: of } of steps) {
          t.is(cost.active + cost.idle, cost.items, of);
          t.true(cost.items > 0 && cost.divergent <= Math.ceil(cost.items / 32), of);
          t.true((source.marks?.length ?? 0) > 0, `${of}: no line of ${source.name} is marked`);
        }
      }
    });
  }

  for (const algorithm of EXPLAINED_SORTS) {
    test.serial(
      title(`${algorithm} explains ties, directions, floats and sizes that are not a power of two`),
      async (t) => {
        const opened = await device();
        for (const words of [['5'], ['3', '3', '1'], ['9', '2', '9', '0', '2', '255', '2']]) {
          const up = await explain(opened, words, { algorithm, bits: 8 });
          t.deepEqual(
            up.sorted,
            words.toSorted((a, b) => Number(a) - Number(b)),
          );
          const down = await explain(opened, words, { algorithm, dtype: 'u8', descending: true });
          t.deepEqual(
            down.sorted,
            words.toSorted((a, b) => Number(b) - Number(a)),
          );
        }
        const floats = await explain(opened, ['1.5', 'nan', '-0', '0', '-inf', '0.1'], { algorithm });
        t.deepEqual(floats.sorted, ['-Infinity', '-0', '0', '0.1', '1.5', 'NaN']);
      },
    );
  }

  test.serial(title('reductions and scans accept signed keys and floats, and every operation'), async (t) => {
    const opened = await device();
    const result = async (words: string[], options: ExplainOptions) =>
      (await explain(opened, words, options)).result.join(' ');
    const signed = ['-5', '3', '-2'];
    for (const op of ['sum', 'min', 'max'] as const) {
      t.is(await result(signed, { algorithm: 'reduce', op }), { sum: '-4', min: '-5', max: '3' }[op]);
    }
    t.is(await result(signed, { algorithm: 'scan' }), '0 -5 -2');
    t.is(await result(['0.5', '0.25', '-1.5'], { algorithm: 'reduce', step: 'grid' }), '-0.75');
    t.is(await result(['0.5', '0.25', '-1.5'], { algorithm: 'scan', step: 'tile' }), '0 0.5 0.75');
    t.is(await result(['1', 'nan', '2'], { algorithm: 'reduce', op: 'max', dtype: 'f32' }), 'NaN');
    t.is(
      await result(['18446744073709551615', '2'], { algorithm: 'scan', dtype: 'u64' }),
      '0 18446744073709551615',
    );
  });

  test.serial(title('amd shows its chain of 3 kernels and, on request, that of 5'), async (t) => {
    const opened = await device();
    const words = randomWords(70, { max: 256, seed });
    const kernels = async (scan?: 3 | 5) => {
      const { steps } = await explain(opened, words, { algorithm: 'amd', bits: 8, ...(scan && { scan }) });
      return steps.flatMap(({ kernels: own }) => own).join(' ');
    };
    const three = 'histogram ScanArraysdim2 ScanArraysdim1 fixOffset permute';
    t.is(await kernels(), three);
    t.is(await kernels(3), three);
    t.is(await kernels(5), three.replace('ScanArraysdim1', 'prefixSum blockAddition ScanArraysdim1'));
  });

  test.serial(
    title('an explanation of many keys is abridged, and amd has several runs above 16384 keys'),
    async (t) => {
      const n = small ? 300 : 20_000;
      const words = randomWords(n, { max: 256, seed });
      const visible = await explain(await device(), words, { algorithm: 'amd', bits: 8 });
      t.is(visible.n, n);
      t.is(visible.keys.length, 256);
      for (const { before, lines } of visible.steps) {
        t.deepEqual(before, []);
        for (const one of lines) t.true(one.values.length <= 48 && (one.of ?? 0) <= Math.max(n, 2 ** 16));
      }
      t.is(visible.steps.length, small ? 5 : 7);
      t.regex(explanationText(visible), new RegExp(`^  digit \\(${n}\\) .* \\.\\.\\. `, 'm'));
    },
  );

  test.serial(title('values move with their keys'), async (t) => {
    const { steps } = await explain(await device(), ['3', '1', '2'], { pairs: true, bits: 2 });
    t.deepEqual(steps.at(-1)?.lines.at(-1), { name: 'values after', values: ['v1', 'v2', 'v0'] });
  });

  test.serial(title('a bit window ignores the bits below it'), async (t) => {
    const words = ['33', '17', '18', '34', '1'];
    const { sorted, steps } = await explain(await device(), words, { bits: [4, 6] });
    t.deepEqual(sorted, ['1', '17', '18', '33', '34']);
    t.is(steps.length, 2);
  });

  test.serial(title('two-bit digits are split into four bins'), async (t) => {
    const { steps } = await explain(await device(), WORDS, { bits: 4, radixBits: 2 });
    t.deepEqual(
      steps.map(({ after }) => after.join(' ')),
      ['4 1 14 7', '1 4 7 14'],
    );
  });

  test.serial(title('merge shows its three regimes, and the splitters of the third'), async (t) => {
    const { steps } = await explain(await device(), randomWords(40, { seed }), { algorithm: 'merge' });
    const kernels = new Set(steps.flatMap((step) => step.kernels));
    t.deepEqual([...kernels], ['merge_pairs', 'merge_local', 'merge_split', 'merge_tiles']);
    t.true(steps.at(-1)?.lines.some(({ name }) => name === 'splitters'));
  });

  test.serial(title('invalid and unsupported explanations raise a typed error'), async (t) => {
    const opened = await device();
    const many = Array.from({ length: 65 }, (_, i) => String(i));
    const wrong: readonly (readonly [readonly string[], ExplainOptions])[] = [
      [[], {}],
      [WORDS, { bits: 40 }],
      [WORDS, { bits: [3, 2] }],
      [WORDS, { algorithm: 'merge', radixBits: 2 }],
      [WORDS, { algorithm: 'nothing' as 'split' }],
      [WORDS, { algorithm: 'reduce', step: 'sweep' }],
      [WORDS, { algorithm: 'split', step: 'flip' }],
      [WORDS, { algorithm: 'scan', bits: 4 }],
      [WORDS, { algorithm: 'histogram', bits: 9 }],
      [WORDS, { algorithm: 'histogram', pairs: true }],
      [WORDS, { algorithm: 'reduce', descending: true }],
      [WORDS, { algorithm: 'split', scan: 5 }],
      [WORDS, { algorithm: 'split', op: 'min' }],
      [['256'], { dtype: 'u8' }],
      [new Array<string>(MAX_KEYS + 1).fill('1'), {}],
      [new Array<string>(1025).fill('1'), { algorithm: 'odd-even' }],
    ];
    for (const [words, options] of wrong) {
      await t.throwsAsync(
        explain(opened, words, options),
        { instanceOf: UsageError },
        JSON.stringify(options),
      );
    }
    const unsupported: readonly (readonly [readonly string[], ExplainOptions])[] = [
      [many, { algorithm: 'row' }],
      [['1', '2', '3'], { algorithm: 'bitonic', step: 'alternating' }],
      [WORDS, { algorithm: 'scan', dtype: 'u8' }],
      [WORDS, { algorithm: 'scan', step: 'single_pass', dtype: 'u64' }],
      [WORDS, { algorithm: 'histogram', bits: 8, step: 'permuted' }],
      [WORDS, { algorithm: 'reduce', dtype: 'f16' }],
      [WORDS, { algorithm: 'reduce', dtype: 'bf16' }],
    ];
    for (const [words, options] of unsupported) {
      if (options.dtype === 'f16' && !('Float16Array' in globalThis)) continue;
      await t.throwsAsync(
        explain(opened, words, options),
        { instanceOf: UnsupportedError },
        JSON.stringify(options),
      );
    }
  });
});

test('a number that differs from the model raises a MismatchError', (t) => {
  t.throws(() => agree('offsets', [0, 1], [0, 2]), {
    instanceOf: MismatchError,
    message: /value 1 of 2 from the device is 1/,
  });
  t.throws(() => agree('offsets', [0], [0, 2]), { instanceOf: MismatchError });
  t.throws(() => agree('sums', [0], [-0]), { instanceOf: MismatchError });
  t.deepEqual(agree('offsets', [0, 2], [0, 2]), [0, 2]);
  t.deepEqual(agree('sums', [Number.NaN], [Number.NaN]), [Number.NaN]);
});

test('keys are parsed and printed in decimal with a guessed dtype', (t) => {
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

test('random keys fit their dtype, and the same seed gives the same keys', (t) => {
  const keys = randomWords(1000, { seed: 5n, dtype: 'i8' });
  t.deepEqual(keys, randomWords(1000, { seed: 5n, dtype: 'i8' }));
  t.true(keys.every((word) => parseKey(word, 'i8') < 128n));
  t.throws(() => randomWords(1, { seed: 1n, dtype: 'i8', max: 129 }), { instanceOf: UsageError });
  t.throws(() => randomWords(1, { seed: 1n, max: 0 }), { instanceOf: UsageError });
});

test.serial('clsort explain prints text and JSON, and rejects invalid keys', async (t) => {
  const text = await clsort(['explain', ...WORDS, '--bits', '4']);
  t.is(text.code, 0, text.err);
  t.regex(text.out, /new index +2 +0 +1 +3\n/);
  t.regex(text.out, /moved +14 +4 +7 +1\n/);
  const json = await clsort(['explain', '-5', '3', '--json', '--', '-2']);
  t.deepEqual(JSON.parse(json.out).sorted, ['-5', '-2', '3']);
  t.is((await clsort(['explain', '7', '300', '--dtype', 'u8'])).code, 2);
  const digits = await clsort(['explain', ...WORDS, '--bits', '4', '--radix-bits', '2', '--json']);
  t.is(JSON.parse(digits.out).steps.length, 2);
  const drawn = await clsort([
    'explain',
    '--random',
    '8',
    '--max',
    '4',
    '--seed',
    '9',
    '--bits',
    '0:2',
    '--json',
  ]);
  t.deepEqual(JSON.parse(drawn.out).keys, randomWords(8, { max: 4, seed: 9n }));
  for (const wrong of [
    [],
    [...WORDS, '--algorithm', 'merge', '--radix-bits', '2'],
    [...WORDS, '--random', '4'],
    [...WORDS, '--max', '4'],
    [...WORDS, '--bits', '4-8'],
    ['--random', '65537'],
    ['--random', 'many'],
  ]) {
    const { code, err } = await clsort(['explain', ...wrong]);
    t.is(code, 2, `${wrong.join(' ')}: ${err}`);
  }
});

for (const algorithm of EXPLAINED_NAMES) {
  test.serial(`clsort explain --algorithm ${algorithm} writes ASCII tables, JSON and a page`, async (t) => {
    const { path, remove } = scratchFolder();
    t.teardown(remove);
    const page = path('page.html');
    const isSort = EXPLAINED_SORTS.includes(algorithm);
    const args = ['explain', '1.5', '0.5', '2', '--algorithm', algorithm, '--dtype', 'f32'];
    const text = await clsort([...args, ...(isSort ? ['--descending'] : [])]);
    t.is(text.code, 0, text.err);
    t.regex(text.out, /^[\n -~]+$/, 'ASCII, without colour');
    t.regex(text.out, /^ {2}input +1\.5 0\.5 2$/m);
    if (isSort) {
      t.regex(text.out, /^ {2}sorted +2 1\.5 0\.5$/m);
      const some = await clsort([...args, '--bits', '8']);
      t.regex(some.out, /^ {2}sorted by bits 0 to 8 +1\.5 0\.5 2$/m);
    }
    t.regex(text.out, /^ {2}work-items \d+ of \d+, \d+ idle/m);
    const json = await clsort([...args, '--json', '--html', page]);
    t.is(json.code, 0, json.err);
    const explanation = JSON.parse(json.out);
    t.is(explanation.algorithm, algorithm);
    t.is(explanation.schema, 'clsort.explain/2');
    if (isSort) t.deepEqual(explanation.sorted, ['0.5', '1.5', '2']);
    t.true(explanation.steps.length > 0);
    t.regex(readFileSync(page, 'utf8'), /^<!doctype html>/i);
  });
}
