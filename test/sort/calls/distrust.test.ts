import test from 'ava';
import type { AlgorithmOption, SortReport } from '../../../src/index.js';
import { fakeSorter } from '../fake-backend.js';

test('a variant that failed verification twice is avoided unless requested by name', async (t) => {
  const { sorter, session, warnings } = fakeSorter();
  const { backend } = session;
  const keys = Uint32Array.from({ length: 900 }, (_, i) => Math.imul(i, 2654435761) >>> 8);
  /** The algorithms that a sort tries; the last one computed the result. */
  const tried = async (algorithm: AlgorithmOption = 'auto'): Promise<string[]> => {
    const reports: SortReport[] = [];
    const before = backend.sorts.length;
    const onReport = (report: SortReport) => reports.push(report);
    t.deepEqual(await sorter.sort(keys, { algorithm, onReport }), keys.toSorted());
    const names = backend.sorts.slice(before).map(({ plan }) => plan.algorithm);
    t.is(reports[0]?.algorithm, names.at(-1));
    return names;
  };
  const [best = ''] = await tried();
  backend.faultOf = ({ algorithm }) => (algorithm === best ? { spoils: 'lost elements' } : undefined);
  for (let i = 0; i < 2; i++) {
    const [first, second, ...more] = await tried();
    t.is(first, best);
    t.not(second, best);
    t.is(more.length, 0);
  }
  t.false((await tried()).includes(best), 'it is not tried a third time');
  backend.faultOf = () => undefined;
  t.deepEqual(await tried(best as AlgorithmOption), [best]);
  t.is(warnings.filter(({ code }) => code === 'ERR_CLSORT_MISMATCH').length, 2);
});
