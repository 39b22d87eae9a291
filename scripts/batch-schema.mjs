#!/usr/bin/env node
// Writes docs/batch.schema.json from the fields that `clsort batch` reads. Run it when a field changes. Needs `npm run
// build`.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { manifestSchema } from '../dist/src/batch/schema.js';

const root = fileURLToPath(new URL('..', import.meta.url));
writeFileSync(`${root}docs/batch.schema.json`, `${JSON.stringify(manifestSchema(), null, 2)}\n`);
execFileSync(
  process.execPath,
  ['node_modules/@biomejs/biome/bin/biome', 'format', '--write', 'docs/batch.schema.json'],
  {
    cwd: root,
  },
);
