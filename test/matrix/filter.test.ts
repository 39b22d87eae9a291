import test from 'ava';
import { matrixCases } from '../../src/matrix/case.js';
import { readFilter } from '../../src/matrix/filter.js';
import { UsageError } from '../../src/util/errors.js';

const casesOf = (...texts: string[]) =>
  matrixCases({ level: 'quick', seed: '1', maxKeys: 1e9, filters: texts.map(readFilter) });

const valuesOf = (cases: ReturnType<typeof casesOf>, axis: 'operation' | 'algorithm' | 'dtype' | 'n') => [
  ...new Set(cases.map((one) => one[axis])),
];

test('a filter term names an axis with values, or values alone', (t) => {
  t.deepEqual(readFilter('algorithm=tiled,dtype=u32|f64'), { algorithm: ['tiled'], dtype: ['u32', 'f64'] });
  t.deepEqual(readFilter(' tiled , u32|f64 , 257 '), {
    algorithm: ['tiled'],
    dtype: ['u32', 'f64'],
    n: ['257'],
  });
  t.deepEqual(readFilter('topK,nan-first,few'), { operation: ['topK'], order: ['nan-first'], keys: ['few'] });
  t.deepEqual(readFilter('reduce'), { operation: ['reduce-sum', 'reduce-min', 'reduce-max'] });
});

test('commas combine terms with AND, and several filters combine with OR', (t) => {
  const cases = casesOf('sort,tiled,u32|f64', 'gather,u8');
  t.deepEqual(valuesOf(cases, 'algorithm'), ['tiled', 'none']);
  t.deepEqual(valuesOf(cases, 'dtype'), ['u32', 'f64', 'u8']);
  t.true(cases.every(({ operation, dtype }) => (operation === 'gather') === (dtype === 'u8')));
});

test('sizes, orders, keys and algorithms named in a filter run at any level', (t) => {
  const cases = casesOf('argsort,amd,f32,n=1000|77,order=descending-nan-first,keys=few|sorted');
  t.deepEqual(valuesOf(cases, 'n'), [1000, 77]);
  t.is(cases.length, 4);
  t.deepEqual(valuesOf(casesOf('argsort,amd'), 'n'), [33, 16_385]);
  t.deepEqual(valuesOf(casesOf('gather,u8,500', 'scan,u32'), 'n'), [500, 33, 16_385], 'each its own');
  t.is(casesOf('gather', 'u8,gather').length, casesOf('gather').length, 'none twice');
});

for (const [text, message] of [
  ['algoritm=tiled', /for the axis in --only but got "algoritm"\. Did you mean "algorithm"/],
  ['algorithm=tild', /for algorithm in --only but got "tild"\. Did you mean "tiled"/],
  ['dtype=u33', /for dtype in --only but got "u33"\. Did you mean "u3?2?/],
  ['histogrm', /for --only but got "histogrm"\. Did you mean "histogram"/],
  ['sort|u32', /for operation in --only but got "u32"/],
  ['u32,f64', /expected one dtype term for --only but got "u32,f64"\. .* \|/],
  ['n=many', /expected a number of keys .* for n in --only but got "many"/],
  ['', /expected terms such as/],
  ['dtype=', /expected terms such as/],
  ['u32,,f32', /expected terms such as/],
] as const) {
  test(`--only '${text}' raises a usage error that names the valid form`, (t) => {
    t.throws(() => readFilter(text), { instanceOf: UsageError, message });
  });
}
