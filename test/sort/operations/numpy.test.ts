/** Operations on random keys return what NumPy returns; `scripts/compare-numpy.mjs` runs more cases. */
import {
  COMPARISONS,
  compareWithNumPy,
  numPyResults,
  randomCases,
} from '../../../scripts/peers/reference.js';
import { SEED } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import { testWithNumPy } from '../../numpy.js';
import { FULL } from '../../pairwise.js';

/** Two cases of each dtype. */
const FEW_CASES = 24;

forEachSorter((title, open, small) => {
  for (const operation of Object.keys(COMPARISONS)) {
    testWithNumPy(title(`${operation} agrees with NumPy`), async (t, _, python) => {
      const count = FULL ? 1000 : small ? FEW_CASES : 240;
      const cases = randomCases(count, small ? 100 : 600, SEED);
      const expected = numPyResults(python, operation, cases);
      t.is(expected.length, count);
      t.deepEqual(await compareWithNumPy(await open(), operation, cases, expected), [], `seed ${SEED}`);
    });
  }
});
