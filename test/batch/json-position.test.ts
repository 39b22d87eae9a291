import test from 'ava';
import fc from 'fast-check';
import { lineAndColumn, offsetOf, type Path, syntaxErrorOffset } from '../../src/batch/json-position.js';

/** All paths of a value, with the values at them. */
function* pathsOf(value: unknown, path: Path = []): Generator<[Path, unknown]> {
  yield [path, value];
  if (Array.isArray(value)) for (const [i, one] of value.entries()) yield* pathsOf(one, [...path, i]);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) yield* pathsOf(one, [...path, name]);
  }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

test('offsetOf finds every value at its property name or at its place in a list', (t) => {
  const property = fc.property(fc.json(), fc.constantFrom(0, 1, 3), (json, indent) => {
    const value = JSON.parse(json);
    const text = JSON.stringify(value, null, indent);
    for (const [path, one] of pathsOf(value)) {
      const rest = text.slice(offsetOf(text, path));
      const last = path.at(-1);
      const wanted =
        typeof last === 'string' ? `${JSON.stringify(last)}:` : JSON.stringify(one, null, indent).slice(0, 1);
      if (!rest.startsWith(wanted)) return false;
    }
    return true;
  });
  fc.assert(property, { numRuns: 300 });
  t.is(
    offsetOf('{"a": [1, {"b": 2}]}', ['a', 1, 'c']),
    10,
    'a missing property has the offset of its object',
  );
});

test('brokenAt accepts exactly the texts that JSON.parse accepts', (t) => {
  const mutated = fc.tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', ',', '}', ']', '"', '0', '\\', '\n', 'e', '-', ' '),
    fc.nat(2),
  );
  const property = fc.property(mutated, ([json, at, put, cut]) => {
    const place = at % (json.length + 1);
    const text = json.slice(0, place) + put + json.slice(place + cut);
    return isJson(text) === (syntaxErrorOffset(text) === undefined);
  });
  fc.assert(property, { numRuns: 5000 });
  t.is(syntaxErrorOffset('{"a": 1,}')?.offset, 8);
  t.deepEqual(lineAndColumn('ab\ncd', 4), [2, 2]);
});
