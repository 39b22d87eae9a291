import test from 'ava';
import { JOB_RULES } from '../../src/batch/jobs.js';
import { withCluster } from '../../src/cli/options/engine.js';
import { withLines } from '../../src/cli/options/lines.js';
import { specOf } from '../../src/cli/spec.js';
import { specNamed } from '../../src/cli/specs.js';

/** Options of `sort` that a job has under another name or lacks, with the reason. */
const OTHERWISE: Readonly<Record<string, string | undefined>> = {
  key: 'keys', // a list
  noHeader: 'header', // false
  outDir: 'out', // by a template: "sorted/{name}{ext}"
  memory: undefined, // one limit for the whole batch
  type: 'types', // one for each column
  resume: undefined, // always
  restart: undefined, // never: a batch resumes
  report: undefined, // of the whole batch, by --report
  json: undefined,
  values: undefined, // pairs are sorted one by one
  valuesOut: undefined,
  quiet: undefined,
};

/** Options that choose other machines for a sort; a batch has its own. */
const namesOf = (builder: Parameters<typeof specOf>[0]['builder']): string[] =>
  specOf({ command: 'any', describe: '', builder }).options.map(({ name }) => name);
const EVERYWHERE = new Set(namesOf((yargs) => yargs));
const OF_ENGINES = namesOf(withCluster).filter((name) => !EVERYWHERE.has(name));
/** Options of sort(1) for lines of text, which a batch does not sort. */
const OF_LINES = namesOf(withLines).filter((name) => !EVERYWHERE.has(name));

const camelCase = (name: string): string =>
  name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

test('the fields of a job are the options of the sort command in camelCase', async (t) => {
  const spec = await specNamed('sort');
  const options = [...spec.arguments, ...spec.options]
    .filter(({ name }) => !OF_ENGINES.includes(name) && !OF_LINES.includes(name))
    .map(({ name }) => camelCase(name));
  t.true(options.length > 20);
  const fields = options.flatMap((name) => (name in OTHERWISE ? (OTHERWISE[name] ?? []) : name));
  t.deepEqual([...new Set(['name', ...fields])].toSorted(), Object.keys(JOB_RULES).toSorted());
  for (const name of Object.keys(OTHERWISE))
    t.true(options.includes(name), `sort has no option ${name} any more`);
});
