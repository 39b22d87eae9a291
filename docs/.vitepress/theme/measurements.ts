/** Measurements of every kind of file that clsort keeps or `clsort bench --json` prints, as rows of one kind. */

/** What is timed. */
export type Measure =
  | 'kernels'
  | 'device array, awaited'
  | 'device array, in a chain'
  | 'array to new array'
  | 'array to new array, many at once';

export interface Row {
  readonly device: string;
  readonly driver: string;
  readonly date: string;
  /** `sort`, `topK-100` and so on. */
  readonly operation: string;
  readonly measure: Measure;
  /** `clsort` with an algorithm or a way of calling, or the name of a peer. */
  readonly who: string;
  readonly isPeer: boolean;
  readonly dtype: string;
  readonly distribution: string;
  /** Keys. */
  readonly n: number;
  readonly seconds: number;
}

interface Timing {
  readonly median: number;
}

// biome-ignore lint/suspicious/noExplicitAny: files of several kinds, whose fields are looked at one by one
type Data = any;

/** What all rows of a file have. */
const origin = ({ device, driver, date }: Data): Pick<Row, 'device' | 'driver' | 'date'> => ({
  device: String(device ?? 'unknown'),
  driver: String(driver ?? ''),
  date: String(date ?? ''),
});

const OPERATIONS: Readonly<Record<string, string>> = { keys: 'sort', pairs: 'sortPairs', argsort: 'argsort' };

const ofValues = (valueBytes: number): string => (valueBytes > 0 ? 'sortPairs' : 'sort');

function sortRows(data: Data): Row[] {
  return data.rows.flatMap((row: Data) => {
    if (row.result !== 'ok') return [];
    const common = {
      ...origin({ ...data, device: row.device ?? data.device }),
      ...{ operation: OPERATIONS[row.mode] ?? row.mode, who: `clsort, ${row.algorithm}`, isPeer: false },
      ...{ dtype: row.dtype, distribution: row.distribution, n: row.n },
    };
    const times: [Measure, Timing | undefined][] = [
      ['kernels', row.kernel],
      ['array to new array', row.endToEnd],
    ];
    return times.flatMap(([measure, time]) => (time ? [{ ...common, measure, seconds: time.median }] : []));
  });
}

function callRows(data: Data): Row[] {
  return data.rows.flatMap((row: Data) => {
    if (row.result !== 'ok') return [];
    const common = {
      ...{ ...origin(data), operation: row.operation, dtype: 'u32', distribution: 'uniform', n: row.n },
    };
    const [awaited, chained]: Measure[] =
      row.place === 'device'
        ? ['device array, awaited', 'device array, in a chain']
        : ['array to new array', 'array to new array, many at once'];
    const timed = (who: string, isPeer: boolean, times: Data): Row[] =>
      [
        [awaited as Measure, times.awaited],
        [chained as Measure, times.chained],
      ].flatMap(([measure, time]) =>
        time
          ? [{ ...common, who, isPeer, measure: measure as Measure, seconds: (time as Timing).median }]
          : [],
      );
    return [
      ...timed('clsort', false, row),
      ...Object.entries(row.peers ?? {}).flatMap(([name, times]) => timed(name, true, times)),
    ];
  });
}

function peerRows(data: Data): Row[] {
  return data.rows.flatMap((row: Data) =>
    row.time?.median > 0 // a peer that is missing has a word there
      ? [
          {
            ...{ ...origin(data), operation: 'sort', who: row.sort, isPeer: !row.sort.startsWith('clsort') },
            ...{ dtype: row.dtype ?? 'u32', distribution: row.distribution ?? 'uniform', n: row.n },
            measure: (row.mode === 'device' ? 'kernels' : 'array to new array') as Measure,
            seconds: row.time.median,
          },
        ]
      : [],
  );
}

/** Those of scripts/bench-device.ts, between markers, with CUB's beside them. */
function deviceRows(data: Data): Row[] {
  return data.rows.flatMap((row: Data) => {
    const milliseconds = row.queuedMilliseconds ?? row.milliseconds;
    if (row.result !== 'ok' || !milliseconds) return [];
    const common = {
      ...{ ...origin(data), operation: ofValues(row.valueBytes), measure: 'kernels' as Measure },
      ...{ dtype: row.dtype, distribution: row.distribution ?? 'uniform', n: row.n },
    };
    const cub = row.queuedMilliseconds ? row.cub?.queued?.int : undefined;
    const who = `clsort, ${row.algorithm}${row.tuning ? ', tuned otherwise' : ''}`;
    return [
      { ...common, who, isPeer: false, seconds: milliseconds / 1e3 },
      ...(cub ? [{ ...common, who: 'CUB', isPeer: true, seconds: cub / 1e3 }] : []),
    ];
  });
}

/** Those of scripts/bench-operations.ts, between markers behind other work, with CUB's fastest form beside them. */
function operationRows(data: Data): Row[] {
  return data.rows.flatMap((row: Data) => {
    if (row.result !== 'ok' || !row.queuedMilliseconds) return [];
    const { operation, dtype, n } = row;
    const common = { ...origin(data), operation, measure: 'kernels' as Measure, dtype, n };
    const cub = Object.values((row.cub ?? {}) as Data).flatMap((form: Data) =>
      form.ok ? [form.queued] : [],
    );
    const timed = (who: string, isPeer: boolean, milliseconds: number): Row[] => [
      { ...common, distribution: 'uniform', who, isPeer, seconds: milliseconds / 1e3 },
    ];
    return [
      ...timed('clsort', false, row.queuedMilliseconds),
      ...(cub.length > 0 ? timed('CUB', true, Math.min(...cub)) : []),
    ];
  });
}

const seen = (rows: readonly Row[]): Row[] => {
  const byName = new Map(rows.map((row) => [[row.who, caseOf(row), row.seconds, row.device].join('|'), row]));
  return [...byName.values()];
};

/** What has to be the same for two rows to be compared. */
export const caseOf = ({ operation, measure, dtype, distribution, n }: Omit<Row, 'device'>): string =>
  [operation, measure, dtype, distribution, n].join('|');

/** @throws Error when the data are of no kind that is known */
export function rowsOf(data: unknown): Row[] {
  const one = data as Data;
  if (typeof one !== 'object' || one === null) throw new Error('this is no object of JSON');
  const schema = String(one.schema ?? '');
  if (schema === 'clsort.bench.sorts/2') return one.benches.flatMap(rowsOf);
  if (!Array.isArray(one.rows))
    throw new Error(`there are no rows in it; its schema is '${schema || 'not said'}'`);
  if (schema.startsWith('clsort.bench.sorts/')) return sortRows(one);
  if (schema.startsWith('clsort.bench.calls/')) return callRows(one);
  if (schema.startsWith('clsort.bench.peers/')) return peerRows(one);
  if (schema.startsWith('clsort.bench.operations/')) return operationRows(one);
  if (schema === 'clsort.results/1' || schema === '') return seen(deviceRows(one));
  throw new Error(
    `its schema is '${schema}': expected what 'clsort bench sorts --json' or 'clsort bench calls --json' prints`,
  );
}

export interface Crossover {
  readonly device: string;
  readonly operation: string;
  readonly measure: Measure;
  readonly peer: string;
  /** Sizes at which the peer is sooner done than the fastest of clsort, and those at which it is not; u32, uniform. */
  readonly peerAt: readonly number[];
  readonly oursAt: readonly number[];
  /** Times of the peer over ours, at the smallest and at the largest size. */
  readonly times: readonly [first: number, last: number];
}

/** Where clsort is faster than each peer, and where it is not; of several runs the best of each counts. */
export function crossoversOf(rows: readonly Row[]): Crossover[] {
  const plain = rows.filter(({ dtype, distribution }) => dtype === 'u32' && distribution === 'uniform');
  const groups = new Map<string, Row[]>();
  for (const row of plain) {
    const name = [row.device, row.operation, row.measure].join('|');
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups.values()].flatMap((group) => {
    const [{ device, operation, measure }] = group as [Row];
    const ours = (n: number) =>
      Math.min(...group.filter((row) => !row.isPeer && row.n === n).map(({ seconds }) => seconds));
    const peers = [...new Set(group.filter(({ isPeer }) => isPeer).map(({ who }) => who))];
    return peers.flatMap((peer) => {
      const own = group.filter(({ who }) => who === peer);
      const points = [...new Set(own.map(({ n }) => n))]
        .filter((n) => Number.isFinite(ours(n)))
        .map((n) => {
          const theirs = Math.min(...own.filter((row) => row.n === n).map(({ seconds }) => seconds));
          return { n, times: theirs / ours(n) };
        })
        .sort((a, b) => a.n - b.n);
      if (points.length === 0) return [];
      return [
        {
          ...{ device, operation, measure, peer },
          peerAt: points.filter(({ times }) => times < 1).map(({ n }) => n),
          oursAt: points.filter(({ times }) => times >= 1).map(({ n }) => n),
          times: [points[0]?.times ?? 1, points.at(-1)?.times ?? 1] as const,
        },
      ];
    });
  });
}

/** 65536 → 2^16; other numbers with commas. */
export function keysText(n: number): string {
  const power = Math.log2(n);
  return Number.isInteger(power) && power >= 10 ? `2^${power}` : n.toLocaleString('en');
}

/** Sizes as a list, where three and more that lie beside each other among all measured ones are a range. */
export function sizesText(sizes: readonly number[], all: readonly number[]): string {
  const places = sizes.map((n) => all.indexOf(n));
  const runs: [number, number][] = [];
  for (const place of places) {
    const last = runs.at(-1);
    if (last && last[1] === place - 1) last[1] = place;
    else runs.push([place, place]);
  }
  const words = runs.flatMap(([first, last]) => {
    const names = all.slice(first, last + 1).map(keysText);
    return names.length > 2 ? [`${names[0]} … ${names.at(-1)}`] : names;
  });
  return words.length > 0 ? words.join(', ') : '–';
}

/** Seconds with a unit that leaves few zeros, three digits. */
export function secondsText(seconds: number): string {
  for (const [unit, factor] of [
    ['s', 1],
    ['ms', 1e3],
    ['µs', 1e6],
  ] as const) {
    if (seconds * factor >= 1 || unit === 'µs') return `${Number((seconds * factor).toPrecision(3))} ${unit}`;
  }
  return `${seconds} s`;
}

/** Keys a second, with the prefix that fits. */
export function rateText(rate: number): string {
  const [factor, unit] = rate >= 1e9 ? [1e9, 'Gkeys/s'] : rate >= 1e6 ? [1e6, 'Mkeys/s'] : [1e3, 'kkeys/s'];
  return `${Number((rate / factor).toPrecision(3))} ${unit}`;
}
