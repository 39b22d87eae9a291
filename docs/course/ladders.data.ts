/** The claims of the lab's ladders, with their verdicts at the most keys on every machine whose ladder is kept, read when the site is built. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../scripts/results');

export interface Verdict {
  readonly primitive: string;
  readonly task: string;
  readonly claim: string;
  readonly device: string;
  readonly n: number;
  /** Null where it was not measured. */
  readonly holds: boolean | null;
  readonly reason: string;
}

export declare const data: readonly Verdict[];

function verdictsOf(file: string): Verdict[] {
  const { claims } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { claims: Verdict[] };
  const caseOf = ({ primitive, task, claim, device }: Verdict) => [primitive, task, claim, device].join('|');
  const most = new Map<string, Verdict>();
  for (const verdict of claims) {
    const other = most.get(caseOf(verdict));
    if (!other || verdict.n > other.n) most.set(caseOf(verdict), verdict);
  }
  return [...most.values()];
}

export default {
  watch: ['../../scripts/results/*-ladder.json'],
  load: (): Verdict[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith('-ladder.json'))
      .sort()
      .flatMap(verdictsOf),
};
