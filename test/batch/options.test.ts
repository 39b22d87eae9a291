import test from 'ava';
import { JOB_RULES } from '../../src/batch/jobs.js';
import * as sort from '../../src/cli/options/sort.js';
import { specOf } from '../../src/cli/spec.js';

/** Options of `sort` that a job has by another name, or not, and why. */
const OTHERWISE: Readonly<Record<string, string | undefined>> = {
  key: 'keys', // a list
  noHeader: 'header', // false
  outDir: 'out', // by a template: "sorted/{name}{ext}"
  memory: undefined, // that of the whole batch
  resume: undefined, // always
  report: undefined, // of the whole batch, by --report
  json: undefined,
  quiet: undefined,
};

const camelCase = (name: string): string =>
  name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

test('a job has every option of sort under its camelCase name, and no field that sort does not have', (t) => {
  const spec = specOf(sort);
  const options = [...spec.arguments, ...spec.options].map(({ name }) => camelCase(name));
  t.true(options.length > 20);
  const fields = options.flatMap((name) => (name in OTHERWISE ? (OTHERWISE[name] ?? []) : name));
  t.deepEqual([...new Set(['name', ...fields])].toSorted(), Object.keys(JOB_RULES).toSorted());
  for (const name of Object.keys(OTHERWISE))
    t.true(options.includes(name), `sort has no option ${name} any more`);
});
