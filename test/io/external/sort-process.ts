/** Resumes the sort of `in` in a folder, as a process that can be killed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { externalSort } from '../../../src/io/external/external-sort.js';
import { openSource } from '../../../src/io/streams/raw.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { contextOf, orderOf, TINY } from './small.js';

const folder = process.argv[2] ?? '';
const path = join(folder, 'in');
const sorter = await Sorter.open({ device: 'host' });
process.stdout.write('begins\n');
const bytes = readFileSync(path).length;
const pieces = (): never => {
  throw new Error('a file is read at any position');
};
const { readAt } = await openSource(path, process.stdin);
const input = { name: path, path, readAt, bytes, pieces };
const job = { input, order: orderOf('f32'), orderName: 'units', out: join(folder, 'out'), budget: TINY };
await externalSort(sorter, { ...job, resume: true }, contextOf());
await sorter.close();
