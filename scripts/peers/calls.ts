/** Measures calls of clsort and of NumPy, CuPy and PyTorch, on the same inputs in the same run. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callOperations } from '../../src/bench/call-operations.js';
import {
  benchCalls,
  type CallBench,
  type CallPlace,
  type CallRow,
  WARM_UP_SECONDS,
} from '../../src/bench/calls.js';
import { markdownOf, milliseconds } from '../../src/bench/format.js';
import { type Timing, timing } from '../../src/bench/statistics.js';
import { zipfOffsets } from '../../src/sort/cases/segments.js';
import { packageRoot } from '../../src/util/paths.js';

/** One call of a peer: its times, or 'wrong'. */
export type PeerCall =
  | 'wrong'
  | {
      readonly awaited: Timing;
      /** Absent for calls that return when they are done, such as those on host arrays. */
      readonly chained?: Timing;
      /** The peer's time divided by that of clsort. */
      readonly timesOurs?: number;
      readonly chainedTimesOurs?: number;
    };

export interface PeerCallRow extends CallRow {
  /** Calls by name and version of the peer; peers without such a call are omitted. */
  readonly peers: Readonly<Record<string, PeerCall>>;
}

export interface PeerCalls extends CallBench {
  readonly command: string;
  readonly rows: readonly PeerCallRow[];
}

/** A line of the output of scripts/peers/calls.py. */
interface Answer {
  readonly peer: string;
  readonly version?: string;
  /** Reason why the peer is missing. */
  readonly missing?: string;
  readonly calls?: readonly {
    readonly operation: string;
    readonly place: CallPlace;
    readonly seconds?: readonly number[];
    readonly chained?: readonly number[];
    readonly ok?: boolean;
    readonly error?: string;
  }[];
}

export interface PeerCallsRequest {
  readonly device: string;
  readonly counts: readonly number[];
  readonly operations: readonly string[];
  readonly places: readonly CallPlace[];
  readonly repeats: number;
  readonly chain: number;
  /** Seconds of warm-up calls before timing, for clsort and for the peers. Default 0.3. */
  readonly warmUpSeconds?: number;
  readonly python: string;
  /** Names in lower case. */
  readonly skipped: readonly string[];
  /** The command line that repeats the measurement. */
  readonly command: string;
  /** Receives the results so far after each size: large sizes take minutes. */
  readonly onBench: (bench: PeerCalls) => void;
  /** Receives the notes on omitted peers. */
  readonly onMissing: (words: string) => void;
}

/** Runs the peers' program. If it cannot run, all peers count as missing. */
async function askPeers(folder: string, request: PeerCallsRequest, operations: readonly string[]) {
  const { python, repeats, chain, warmUpSeconds = WARM_UP_SECONDS, places, skipped } = request;
  const script = join(packageRoot, 'scripts/peers/calls.py');
  const lists = [places, operations, skipped].map((words) => words.join(','));
  const child = spawn(python, [script, folder, ...[repeats, chain, warmUpSeconds].map(String), ...lists]);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = await once(child, 'close').catch((error: Error) => [error.message]);
  const answers = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Answer);
  if (ended[0] !== 0) {
    const [last] = stderr.trimEnd().split('\n').slice(-1);
    request.onMissing(`${python}: ${last || ended.join(' ')}`);
  }
  return answers;
}

/** The segment number of each key, for peers without a segmented sort. */
function segmentNumbers(offsets: Uint32Array): Uint32Array {
  const numbers = new Uint32Array(offsets.at(-1) ?? 0);
  for (let i = 1; i < offsets.length; i++) numbers.fill(i - 1, offsets[i - 1], offsets[i]);
  return numbers;
}

const ratio = (theirs?: Timing, ours?: Timing): number | undefined =>
  theirs && ours && theirs.median / ours.median;

/** Returns the peers' times for the call of a row. */
function peersOf(row: CallRow, answers: readonly Answer[]): PeerCallRow {
  const peers = answers.flatMap(({ peer, version, calls = [] }): [string, PeerCall][] => {
    const call = calls.find(({ operation, place }) => operation === row.operation && place === row.place);
    if (!call?.seconds) return [];
    const name = `${peer} ${version}`;
    if (!call.ok) return [[name, 'wrong']];
    const awaited = timing(call.seconds);
    const chained = call.chained && timing(call.chained);
    const timesOurs = ratio(awaited, row.awaited);
    const chainedTimesOurs = ratio(chained, row.chained);
    return [
      [
        name,
        {
          awaited,
          ...(chained && { chained }),
          ...(timesOurs !== undefined && { timesOurs }),
          ...(chainedTimesOurs !== undefined && { chainedTimesOurs }),
        },
      ],
    ];
  });
  return { ...row, peers: Object.fromEntries(peers) };
}

/** Measures the calls of clsort and then those of the peers, one size after the other. */
export async function benchPeerCalls(request: PeerCallsRequest): Promise<PeerCalls> {
  const { device, counts, places, repeats, chain, onBench, onMissing, command } = request;
  const { warmUpSeconds = WARM_UP_SECONDS } = request;
  const operations = callOperations(request.operations);
  const rows: PeerCallRow[] = [];
  const reported = new Set<string>();
  const report = (words: string) => {
    if (!reported.has(words)) onMissing(words);
    reported.add(words);
  };
  let record: PeerCalls | undefined;
  for (const n of counts) {
    const folder = mkdtempSync(join(tmpdir(), 'clsort-peers-'));
    try {
      const bench = await benchCalls({
        ...{ device, operations, counts: [n], places, repeats, chain, warmUpSeconds },
        onInputs: (_, inputs) => {
          const files = { ...inputs, segments: segmentNumbers(zipfOffsets(n)) };
          for (const [name, array] of Object.entries(files))
            writeFileSync(join(folder, `${name}.u32`), array);
        },
        onExpected: (operation, parts) => {
          for (const [i, part] of parts.entries()) writeFileSync(join(folder, `${operation}.${i}`), part);
        },
      });
      const names = operations.map(({ name }) => name);
      const answers = await askPeers(folder, { ...request, onMissing: report }, names);
      for (const { peer, missing, calls = [] } of answers) {
        if (missing !== undefined) report(`${peer} is left out: ${missing}`);
        for (const { operation, place, error } of calls) {
          if (error !== undefined) report(`${peer}, ${operation} on ${place} arrays, is left out: ${error}`);
        }
      }
      rows.push(...bench.rows.map((row) => peersOf(row, answers)));
      record = { ...bench, load: record?.load ?? bench.load, command, rows };
      onBench(record);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  if (!record) throw new RangeError('no sizes to measure');
  return record;
}

const timesText = (times?: number): string => (times === undefined ? '' : `× ${times.toFixed(2)}`);

/** Formats the ratios of the peers' times to those of clsort, awaited and in a chain, and the smallest ratios. */
export function ratioTable({ rows }: PeerCalls): string {
  const names = [...new Set(rows.flatMap(({ peers }) => Object.keys(peers)))];
  const lines = rows.map((row) => {
    const times = names.map((name) => row.peers[name]);
    const minRatio = (of: (call: Exclude<PeerCall, 'wrong'>) => number | undefined): string => {
      const found = times.flatMap((call) => (call && call !== 'wrong' ? (of(call) ?? []) : []));
      return found.length > 0 ? timesText(Math.min(...found)) : '';
    };
    const cells = times.map((call) => {
      if (!call || call === 'wrong') return call ?? '';
      const both = [call.timesOurs, call.chainedTimesOurs].map(timesText).filter(Boolean);
      return both.join(', ');
    });
    return [
      ...[row.operation, row.place, String(row.n), row.result],
      ...[row.awaited, row.chained, row.kernel].map((time) => milliseconds(time?.median)),
      ...cells,
      minRatio(({ timesOurs }) => timesOurs),
      minRatio(({ chainedTimesOurs }) => chainedTimesOurs),
    ];
  });
  const ours = ['result', 'clsort ms', 'in a chain ms', 'kernels ms'];
  return markdownOf([
    ['operation', 'arrays', 'keys', ...ours, ...names, 'best', 'best in a chain'],
    ...lines,
  ]);
}
