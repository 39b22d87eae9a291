#!/usr/bin/env node
// Writes docs/batch.schema.json, from the fields that the command reads. Run it when a field changes.
import { writeFileSync } from 'node:fs';
import { manifestSchema } from '../dist/src/batch/schema.js';

const file = new URL('../docs/batch.schema.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(manifestSchema(), null, 2)}\n`);
