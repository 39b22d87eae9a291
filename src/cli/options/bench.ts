import type { Argv } from 'yargs';
import { MODES } from '../../bench/modes.js';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { flag, required, text, word } from './kinds.js';

/** Default number of keys. */
export const COUNT = '4Mi';
export const FIRST_COUNT = '1e6';
export const CALL_COUNTS = { gpu: '2^16..2^24:2', other: '2^16..2^22:2' } as const;

/** Axes that only `bench sorts` has, with their defaults. */
export const SORT_AXES = { algorithm: 'auto', dtype: 'u32', mode: 'keys', distribution: 'uniform' } as const;

/** Benchmarks by name. */
const BENCH_NAMES = ['calls', 'first', 'ladder', 'sorts'] as const;

/** Ladders of the lectures. */
const LADDER_NAMES = ['reduce', 'scan', 'histogram', 'sorts'] as const;

export type BenchName = (typeof BENCH_NAMES)[number];

export const builder = (yargs: Argv) =>
  withDevice(yargs)
    .positional('what', { ...required(`benchmark: ${BENCH_NAMES.join(', ')}`), choices: BENCH_NAMES })
    .positional('of', {
      ...word(`ladder: one of ${LADDER_NAMES.join(', ')}; default all`),
      choices: LADDER_NAMES,
    })
    .option(
      'count',
      word(
        `numbers of keys, such as 1000,1e6,16Mi or 2^10..2^24; default ${COUNT}; calls: default ${CALL_COUNTS.gpu} on a GPU, ${CALL_COUNTS.other} on other devices; first: default ${FIRST_COUNT}`,
      ),
    )
    .option('json', {
      type: 'boolean',
      default: false,
      describe: 'print { schema, device, …, rows } as JSON; ladder: also claims',
    })
    .option('algorithm', { ...word('sorts: algorithms, comma-separated'), default: SORT_AXES.algorithm })
    .option('dtype', { ...word('sorts: dtypes, comma-separated'), default: SORT_AXES.dtype })
    .option('mode', { ...word(`sorts: modes, comma-separated: ${MODES.join(' ')}`), default: SORT_AXES.mode })
    .option('distribution', {
      ...word('sorts: distributions of clsort gen, comma-separated; uniform floats are random bits'),
      default: SORT_AXES.distribution,
    })
    .option('operation', {
      ...word(
        'calls, first: operations, comma-separated, such as sort,argsort; calls: topK and segmentedSort include all of their variants',
      ),
      default: 'all',
    })
    .option('place', {
      ...word('calls: device for device arrays, host for typed arrays, or both'),
      default: 'both',
    })
    .option('chain', {
      type: 'number',
      default: 50,
      describe: 'calls: maximum number of calls in a chain, without waiting in between',
    })
    .option('repeats', { type: 'number', default: 7, describe: 'repetitions of each case' })
    .option('quick', flag('first: whole commands only for sorts'))
    .option('csv', flag('sorts, calls: print CSV'))
    .option('markdown', flag('sorts, calls: print a Markdown table'))
    .option('svg', text('write a plot of speed by size'))
    .option('html', text('write a page with plots and all rows'))
    .option('baseline', text('sorts, calls: JSON of an earlier run; exit code 1 when slower beyond noise'))
    .group(['count', 'algorithm', 'dtype', 'operation', 'device', 'repeats'], 'Cases:')
    .group(['json', 'markdown', 'svg', 'html', 'baseline'], 'Output:')
    .example('$0 bench sorts --count 64Ki,1Mi,16Mi --json', 'three sizes, each verified, then timed')
    .example(
      '$0 bench sorts --count 2^10..2^24:2 --algorithm auto,amd,tiled --html sorts.html',
      'plot of three algorithms by size',
    )
    .example(
      '$0 bench calls --count 2^16..2^24:4 --operation sort,argsort,topK --place device',
      'call overhead, awaited and in a chain',
    )
    .example(
      '$0 bench first --device gpu',
      'first results of new processes, with empty caches and filled ones',
    )
    .example('$0 bench ladder', 'speed of each step of the lectures, and whether their claims hold')
    .example(
      '$0 bench ladder reduce --count 2^10..2^28:2 --device gpu,cpu,host --html ladder.html',
      'plot of GPU, CPU and host by size',
    );

export type BenchArguments = ArgumentsOf<typeof builder>;
