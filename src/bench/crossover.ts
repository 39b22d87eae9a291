import type { SortRow } from './sorts.js';

/** A range of measured sizes with the same fastest algorithm. */
export interface Span {
  readonly algorithm: string;
  readonly from: number;
  readonly to: number;
}

/** The fastest algorithms by size, for one device, dtype, mode and distribution. */
export interface Contest {
  readonly device?: string;
  readonly dtype: string;
  readonly mode: string;
  readonly distribution: string;
  /** In order of size; only sizes at which several algorithms were measured. */
  readonly spans: readonly Span[];
}

/** Groups rows by a key, in the order of first occurrence. */
function grouped<K>(rows: readonly SortRow[], by: (row: SortRow) => K): Map<K, SortRow[]> {
  const groups = new Map<K, SortRow[]>();
  for (const row of rows) {
    const own = groups.get(by(row));
    if (own) own.push(row);
    else groups.set(by(row), [row]);
  }
  return groups;
}

const kindOf = ({ device, dtype, mode, distribution }: SortRow): string =>
  JSON.stringify([device, dtype, mode, distribution]);

/** Returns the fastest algorithm per size, for each kind of sort for which several algorithms were measured. */
export function contests(rows: readonly SortRow[]): Contest[] {
  const right = rows.filter((row) => row.result === 'ok' && row.keysPerSecond !== undefined);
  return [...grouped(right, kindOf).values()].flatMap((own): Contest[] => {
    const winners = [...grouped(own, ({ n }) => n).entries()]
      .filter(([, at]) => new Set(at.map(({ algorithm }) => algorithm)).size > 1)
      .toSorted(([a], [b]) => a - b)
      .map(([n, at]) => {
        const best = at.reduce((a, b) => ((b.keysPerSecond ?? 0) > (a.keysPerSecond ?? 0) ? b : a));
        return { algorithm: best.algorithm, n };
      });
    const spans: Span[] = [];
    for (const { algorithm, n } of winners) {
      const last = spans.at(-1);
      if (last?.algorithm === algorithm) spans[spans.length - 1] = { ...last, to: n };
      else spans.push({ algorithm, from: n, to: n });
    }
    const [first] = own;
    if (!first || spans.length === 0) return [];
    const { device, dtype, mode, distribution } = first;
    return [{ ...(device !== undefined && { device }), dtype, mode, distribution, spans }];
  });
}

const keys = (n: number): string => n.toLocaleString('en-US');

/** Describes a contest in one sentence. */
export function contestText({ device, dtype, mode, distribution, spans }: Contest): string {
  const kind = `${dtype} ${mode}, ${distribution}${device === undefined ? '' : `, on ${device}`}`;
  const parts = spans.map(({ algorithm, from, to }) =>
    from === to
      ? `${algorithm} at ${keys(from)} keys`
      : `${algorithm} from ${keys(from)} to ${keys(to)} keys`,
  );
  return `${kind}: the fastest is ${parts.join(', then ')}.`;
}
