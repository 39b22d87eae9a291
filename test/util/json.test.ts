import test from 'ava';
import { isObject, parseJson } from '../../src/util/json.js';

test('a text that is not JSON is undefined', (t) => {
  t.deepEqual(parseJson('{ "a": [1] }'), { a: [1] });
  t.is(parseJson('null'), null);
  for (const text of ['', '{', 'undefined', '{ a: 1 }']) t.is(parseJson(text), undefined, text);
});

test('arrays and null are no objects', (t) => {
  for (const value of [{}, { a: 1 }, new Map()]) t.true(isObject(value));
  for (const value of [null, undefined, [], 'text', 1]) t.false(isObject(value));
});
