/** The claims of the lab's ladders, with their verdicts at the most keys on every machine whose ladder is kept, read when the site is built. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Claim } from '../../src/bench/ladder/claims.js';
import { deviceName } from '../../src/util/device-name.js';

/** Cores of the CPU whose ladder is stored. */
const CORES = 2;

const folder = join(import.meta.dirname, '../../scripts/results');

export declare const data: readonly Claim[];

function verdictsOf(file: string): Claim[] {
  const { claims } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { claims: Claim[] };
  const caseOf = ({ primitive, task, claim, device }: Claim) => [primitive, task, claim, device].join('|');
  const most = new Map<string, Claim>();
  for (const verdict of claims) {
    const other = most.get(caseOf(verdict));
    if (!other || verdict.n > other.n) most.set(caseOf(verdict), verdict);
  }
  return [...most.values()].map((verdict) => ({ ...verdict, device: deviceName(verdict.device, CORES) }));
}

export default {
  watch: ['../../scripts/results/*-ladder.json'],
  load: (): Claim[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith('-ladder.json'))
      .sort()
      .flatMap(verdictsOf),
};
