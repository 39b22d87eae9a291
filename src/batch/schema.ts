/** Generates the JSON Schema of manifests from the rules that check them. */
import { BATCH_RULES, JOB_RULES } from './jobs.js';
import type { Rules } from './rules.js';

const properties = (rules: Rules) =>
  Object.fromEntries(
    Object.entries(rules).map(([field, { expected, schema }]) => [
      field,
      { description: expected, ...schema },
    ]),
  );

/** Returns the schema of docs/batch.schema.json, for editors and other tools. */
export function manifestSchema() {
  const { jobs: _, defaults: __, ...rest } = BATCH_RULES;
  const jobs = { type: 'array', items: { $ref: '#/$defs/job' } };
  const fields = properties(JOB_RULES);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Manifest of clsort batch',
    anyOf: [{ $ref: '#/$defs/batch' }, jobs],
    $defs: {
      batch: {
        type: 'object',
        properties: { ...properties(rest), defaults: { $ref: '#/$defs/fields' }, jobs },
        required: ['jobs'],
        additionalProperties: false,
      },
      job: { $ref: '#/$defs/fields' },
      fields: { type: 'object', properties: fields, additionalProperties: false },
    },
  };
}
