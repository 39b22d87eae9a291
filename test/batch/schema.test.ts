import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import { BATCH_RULES, JOB_RULES } from '../../src/batch/jobs.js';
import { manifestSchema } from '../../src/batch/schema.js';
import { packageRoot } from '../../src/util/paths.js';

const shipped = JSON.parse(readFileSync(join(packageRoot, 'docs/batch.schema.json'), 'utf8'));
const validate = new Ajv2020({ strictTypes: false }).compile(shipped);

test('the shipped schema equals the generated one', (t) => {
  t.deepEqual(
    shipped,
    JSON.parse(JSON.stringify(manifestSchema())),
    'node scripts/batch-schema.mjs writes it',
  );
});

test('the schema accepts valid manifests and rejects invalid ones', (t) => {
  const job = { in: 'a', out: 'b' };
  for (const right of [
    [],
    [job],
    {
      jobs: [job],
      $schema: 'x',
      schema: 'clsort.batch/1',
      devices: ['gpu'],
      defaults: { out: '{dir}/{name}.s' },
    },
    { jobs: [{ in: 'a' }], defaults: { out: 'b', bits: [0, 4], nan: 'first', column: 2 } },
  ]) {
    t.true(validate(right), JSON.stringify(validate.errors));
  }
  for (const wrong of [
    {},
    3,
    { jobs: {} },
    [{ ...job, dtpye: 1 }],
    [{ ...job, in: '-' }],
    [{ ...job, nan: 'middle' }],
  ]) {
    t.false(validate(wrong), JSON.stringify(wrong));
  }
});

test('the parser and the schema accept the same values of each field', (t) => {
  const values = [
    '',
    'x',
    '-',
    'first',
    'u32',
    'tiled',
    'auto',
    'host',
    true,
    0,
    1,
    3,
    12,
    13,
    -1,
    -3,
    0.5,
    null,
    {},
    [],
    ['x'],
    [1, 2],
    [-1, 2],
    [0],
    [0, 1, 2],
  ];
  /** The schema cannot express which names are dtypes and that a window begins before it ends. */
  const loose = new Set(['dtype', 'bits']);
  const apart: string[] = [];
  for (const [field, rule] of [
    ...Object.entries(JOB_RULES),
    ...Object.entries({ devices: BATCH_RULES.devices }),
  ]) {
    const ofRule = new Ajv2020({ strictTypes: false }).compile(rule.schema);
    for (const value of values) {
      const [accepts, isValid] = [rule.accepts(value), ofRule(value)];
      if (accepts !== isValid && !(loose.has(field) && isValid)) {
        apart.push(`${field} ${JSON.stringify(value)}: the rule says ${accepts}, the schema ${isValid}`);
      }
    }
  }
  t.deepEqual(apart, []);
});
