import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { type SourceMark, sourceText, withSources } from '../../src/explain/source.js';
import { packageRoot } from '../../src/util/paths.js';

test('sourceText returns the comment, head and body of a kernel with its line numbers', (t) => {
  for (const [file, name, first, last] of [
    ['reduce.cl', 'reduce_halving', /^\/\* Step 3/, /^}$/],
    ['scan.cl', 'SWEEP_BODY', /^\/\* Work-efficient/, /out\[j\]/],
    ['amd_radix.cl', 'permute', /^\/\* Moves the keys/, /^}$/],
    ['histogram_lab.cl', 'histogram_layout', /^\/\* A byte/, /^}$/],
  ] as const) {
    const text = sourceText(file, name);
    t.regex(text.lines[0] ?? '', first, name);
    t.regex(text.lines.at(-1) ?? '', last, name);
    const all = readFileSync(join(packageRoot, 'cl', file), 'utf8').split('\n');
    t.deepEqual(text.lines, all.slice(text.first - 1, text.first - 1 + text.lines.length), name);
  }
  t.throws(() => sourceText('reduce.cl', 'reduce_nothing'), { message: /does not define it/ });
});

test('withSources marks the lines that contain the code of a step', (t) => {
  const whole: SourceMark = { file: 'scan.cl', name: 'scan_add' };
  const { steps, sources } = withSources([{ source: { ...whole, containing: ['+='] } }, { source: whole }]);
  const { first = 0, lines = [] } = sources.scan_add ?? {};
  t.is(steps[0]?.source.marks?.length, 1);
  t.regex(lines[(steps[0]?.source.marks?.[0] ?? 0) - first] ?? '', /\+=/);
  t.is(steps[1]?.source.marks?.length, lines.length);
});
