/** Runs of entries in files: written, read through small windows, merged and verified. */
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Entry, EntrySink } from '../../../src/io/tables/entry.js';
import { mergeRuns } from '../../../src/io/tables/merge-runs.js';
import { type Run, RunReader, RunWriter } from '../../../src/io/tables/run-file.js';
import { ElementSum, randomSeeds } from '../../../src/sort/host/element-sum.js';
import { IoError, MismatchError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { scratchFolder } from '../../cli/cli.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const seeds = randomSeeds();
const { signal } = new AbortController();
type Pair = readonly [key: Buffer, value: Buffer];

/** Entries whose keys end with a unique number; many share a prefix. */
function entriesOf(n: number, seed: number, maxLength = 40): Pair[] {
  const random = new Random(seed);
  return Array.from({ length: n }, (_, i) => {
    const number = Buffer.alloc(8);
    number.writeUInt32BE(i, 4);
    const code = Buffer.from(
      ['', 'a', 'a common beginning, ', 'a common beginning, and more'][random.below(4)] ?? '',
    );
    const end = Buffer.of(random.below(3), 0xff, 0xfe);
    return [Buffer.concat([code, end, number]), Buffer.from(random.bytes(random.below(maxLength)))] as const;
  });
}

const byKey = ([a]: Pair, [b]: Pair): number => Buffer.compare(a, b);

async function written(name: string, entries: readonly Pair[], sum = new ElementSum(seeds)): Promise<Run> {
  const writer = await RunWriter.create(path(name), sum);
  for (const [key, value] of entries) {
    if (writer.add([key.subarray(0, 3), key.subarray(3)], value)) await writer.flush();
  }
  return writer.end();
}

/** Keeps all entries, or the first ones. */
class CollectingSink implements EntrySink {
  readonly pairs: Pair[] = [];
  readonly #limit: number;

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  get isDone(): boolean {
    return this.pairs.length >= this.#limit;
  }

  put({ memory, keyAt, valueAt, end }: Entry): boolean {
    this.pairs.push([
      Buffer.from(memory.subarray(keyAt, valueAt)),
      Buffer.from(memory.subarray(valueAt, end)),
    ]);
    return this.pairs.length % 7 === 0;
  }

  async flush(): Promise<void> {}
}

test('many runs are merged in order through windows smaller than a run', async (t) => {
  for (const [runs, window] of [
    [1, 8],
    [2, 64],
    [5, 100_000],
    [33, 1],
  ] as const) {
    const entries = entriesOf(2000, runs);
    const parts = Array.from({ length: runs }, (_, r) =>
      entries.filter((_, i) => (i * 7) % runs === r).sort(byKey),
    );
    const made = await Promise.all(parts.map((part, r) => written(`${runs}-${r}`, part)));
    const sink = new CollectingSink();
    await mergeRuns(made, sink, { window, signal, seeds });
    t.deepEqual(sink.pairs, [...entries].sort(byKey));
    t.false(
      made.some((run) => existsSync(run.path)),
      'merged runs are removed',
    );
  }
});

test('empty runs and an entry larger than the write buffer are merged', async (t) => {
  const [key, value] = [Buffer.from('12345678'), Buffer.alloc(5 * 2 ** 20, 7)];
  const made = [await written('none', []), await written('large', [[key, value]])];
  const sink = new CollectingSink();
  await mergeRuns(made, sink, { window: 10, signal, seeds });
  t.deepEqual(sink.pairs, [[key, value]]);
  const nothing = new CollectingSink();
  await mergeRuns([], nothing, { window: 10, signal, seeds });
  t.deepEqual(nothing.pairs, []);
});

test('runs are merged into a new run, and a sink may end a merge early', async (t) => {
  const entries = entriesOf(500, 9).sort(byKey);
  const [even, odd] = [0, 1].map((rest) => entries.filter((_, i) => i % 2 === rest));
  const made = [await written('even', even ?? []), await written('odd', odd ?? [])];
  const writer = await RunWriter.create(path('both'), new ElementSum(seeds));
  await mergeRuns(made, writer, { window: 50, signal, seeds });
  const both = await writer.end();
  t.is(both.entries, 500);
  t.is(both.bytes, readFileSync(both.path).length);
  const sink = new CollectingSink(20);
  await mergeRuns([both], sink, { window: 50, signal, seeds });
  t.deepEqual(sink.pairs, entries.slice(0, 20));
  t.false(existsSync(both.path));
});

test('changed, unordered, truncated and missing runs are detected', async (t) => {
  const entries = entriesOf(300, 4, 20).sort(byKey);
  const merge = (run: Run): Promise<void> =>
    mergeRuns([run], new CollectingSink(), { window: 77, signal, seeds });
  const changed = await written('changed', entries);
  const bytes = readFileSync(changed.path);
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
  writeFileSync(changed.path, bytes);
  await t.throwsAsync(merge(changed), { instanceOf: MismatchError, message: /not those of the runs/ });
  const swapped = await written('swapped', [...entries.slice(1), entries[0] as Pair]);
  await t.throwsAsync(merge(swapped), { instanceOf: MismatchError, message: /not in order/ });
  const cut = await written('cut', entries);
  truncateSync(cut.path, cut.bytes - 1);
  await t.throwsAsync(merge(cut), { instanceOf: IoError, message: /ends at byte/ });
  const gone = { ...cut, path: path('gone') };
  await t.throwsAsync(merge(gone), { instanceOf: IoError });
});

test('a missing folder is an IoError, and an aborted merge removes its runs', async (t) => {
  await t.throwsAsync(RunWriter.create(join(path('nowhere'), 'run'), undefined), { instanceOf: IoError });
  mkdirSync(path('some'));
  const run = await written('some/run', entriesOf(50, 2).sort(byKey));
  await t.throwsAsync(
    mergeRuns([run], new CollectingSink(), { window: 99, signal: AbortSignal.abort(), seeds }),
    {
      name: 'AbortError',
    },
  );
  t.false(existsSync(run.path));
  const reader = RunReader.open(run, 10);
  await t.throwsAsync(reader, { instanceOf: IoError });
});
