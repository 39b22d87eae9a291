import test from 'ava';
import {
  ALGORITHM_ALIASES,
  ALGORITHM_NAMES,
  canonicalAlgorithm,
} from '../../src/algorithms/algorithm-names.js';
import { ALGORITHMS, algorithmNamed } from '../../src/algorithms/registry.js';
import { readAlgorithms } from '../../src/cli/device-arguments.js';
import { readFilter } from '../../src/matrix/filter.js';

test('the former name of an algorithm selects the algorithm, and results carry the present name', (t) => {
  t.deepEqual(ALGORITHM_ALIASES, { group: 'single-workgroup', wide: 'hybrid-radix' });
  for (const [alias, name] of Object.entries(ALGORITHM_ALIASES)) {
    t.is(canonicalAlgorithm(alias), name);
    t.is(algorithmNamed(alias).name, name);
    t.is(algorithmNamed(alias), algorithmNamed(name));
    t.deepEqual(readAlgorithms([alias]), [name]);
    t.deepEqual(readFilter(`algorithm=${alias}`), { algorithm: [name] });
    t.deepEqual(readFilter(alias), { algorithm: [name] });
  }
});

test('the names of option algorithm are those of the algorithms', (t) => {
  t.deepEqual(
    ALGORITHMS.map(({ name }) => name),
    [...ALGORITHM_NAMES],
  );
});

test('an alias is no name of its own, and any other name stays as it is', (t) => {
  for (const { name } of ALGORITHMS) t.is(canonicalAlgorithm(name), name);
  for (const name of ['auto', 'toString', '__proto__', '']) t.is(canonicalAlgorithm(name), name);
});
