/** Collects the rates of a forecast: built-in measurements, measurements on this host, or the report of a run. */
import { readFile } from 'node:fs/promises';
import { deviceSpecs } from '../device/platform/select-device.js';
import { hostRatesOf, type RunReport, runnerRatesOf } from '../engines/forecast/fit.js';
import { measureRates } from '../engines/forecast/measure.js';
import { DEVICE_RATES, HOST_RATES, RUNNER_RATES } from '../engines/forecast/measured-rates.js';
import { readBytes } from '../engines/forecast/quantity.js';
import {
  type DeviceRates,
  deviceNamed,
  hostRatesFor,
  type Rates,
  type RecordKind,
  type RunnerRates,
} from '../engines/forecast/rates.js';
import { readRatesFile } from '../engines/forecast/report.js';
import type { SortRequest } from '../engines/make-job.js';
import { defaultMemory } from '../io/external/free-memory.js';
import type { RecordOrdering } from '../io/records/record-ordering.js';
import { ioError } from '../io/streams/raw.js';
import { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { invalidName } from '../util/suggest.js';
import { type Console, say } from './console.js';
import { cannotCombine, cannotUseWithout } from './option-errors.js';
import type { PlanArguments } from './options/plan.js';

export interface PlanRecords {
  readonly kind: RecordKind;
  readonly order: RecordOrdering;
  readonly request: Pick<SortRequest, 'keys' | 'records'>;
}

export interface PlanRates {
  readonly rates: Rates;
  /** Remarks to print with the forecast. */
  readonly notes: readonly string[];
}

/**
 * Returns the rates for `clsort plan`.
 *
 * @throws UsageError when options conflict or a file is about other records
 * @throws InputError when a file is malformed
 * @throws IoError when a file cannot be read
 * @throws with `--measure`, the errors of `Sorter.open` and of sorts
 */
export async function ratesFor(
  args: PlanArguments,
  records: PlanRecords,
  console: Console,
): Promise<PlanRates> {
  const { measure, rates: files = [], engine, device } = args;
  if (measure && files.length > 0) throw cannotCombine('--measure', '--rates', 'both define the rates');
  if (files.length > 0 && device !== undefined) {
    throw cannotCombine('--device', '--rates', 'the rates include the devices of their run');
  }
  const option = (['tmp', 'bytes'] as const).find((name) => args[name] !== undefined);
  if (option !== undefined && !measure)
    throw cannotUseWithout(`--${option}`, '--measure', 'it applies to the test file');
  if (measure) return measureHere(args, records, console);
  if (files.length > 0) return ratesFromFiles(files, records, engine);
  const { row, note } = hostRatesFor(HOST_RATES, records.kind);
  const rates = { host: row, device: deviceOf(device), engine: runnerRates(engine) };
  return { rates, notes: note === undefined ? [] : [note] };
}

/** Returns the rates of the named device. The words `auto`, `gpu` and `cpu` select a device of that type. */
function deviceOf(given: PlanArguments['device']): DeviceRates {
  const specs = deviceSpecs(given ?? ['gpu']);
  const [text = 'gpu'] = specs;
  if (specs.length > 1)
    throw invalidArgument('--device', 'one kind of device for all nodes', specs.join(','));
  const ofKind = { auto: 0, gpu: 0, cpu: 1 }[text];
  const found = ofKind === undefined ? undefined : DEVICE_RATES.find(({ cpu }) => Number(cpu > 0) === ofKind);
  return found ?? deviceNamed(DEVICE_RATES, text);
}

function runnerRates(name: string): RunnerRates {
  const found = RUNNER_RATES.find((one) => one.name === name);
  if (!found)
    throw invalidName(
      '--engine',
      name,
      RUNNER_RATES.map((one) => one.name),
    );
  return found;
}

async function measureHere(args: PlanArguments, records: PlanRecords, console: Console): Promise<PlanRates> {
  const onWarning = ({ message }: Error): void => say(console, `clsort: warning: ${message}`);
  const sorter = await Sorter.open({ devices: deviceSpecs(args.device ?? ['auto']), onWarning });
  try {
    const { kind, order, request } = records;
    const { host, device } = await measureRates({
      ...{ sorter, kind, order, request: request, folder: args.tmp ?? '.' },
      bytes: args.bytes === undefined ? undefined : readBytes(args.bytes, '--bytes'),
      ...{ memory: defaultMemory(), signal: console.signal },
      onProgress: (what) => {
        if (!console.quiet) say(console, `clsort: ${what}`);
      },
    });
    return { rates: { host, device, engine: runnerRates(args.engine) }, notes: [] };
  } finally {
    await sorter.close();
  }
}

async function ratesFromFiles(
  paths: readonly string[],
  { kind }: PlanRecords,
  engine: string,
): Promise<PlanRates> {
  const runs: RunReport[] = [];
  const earlier: Rates[] = [];
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch((error) => {
      throw ioError('read', path, error);
    });
    const found = readRatesFile(text, path);
    const { of, unit: recordBytes } = 'stages' in found ? found : found.host;
    if (of !== kind.of || recordBytes !== kind.unit) {
      throw new UsageError(
        `cannot use the rates in ${path}: they are for ${of} of ${recordBytes} bytes, not ${kind.of} of ${kind.unit} bytes. Pass the --record or --dtype of that run`,
      );
    }
    if ('stages' in found) runs.push(found);
    else earlier.push(found);
  }
  const [first] = earlier;
  if (first) {
    if (paths.length > 1)
      throw new UsageError(
        'cannot combine the rates of an earlier plan with others: they are complete. Pass one file with --rates',
      );
    const { engine: known } = first;
    return { rates: { ...first, engine: known?.name === engine ? known : runnerRates(engine) }, notes: [] };
  }
  const { row } = hostRatesFor(HOST_RATES, kind);
  const ofRuns = runs.filter((run) => run.engine === engine);
  const [run] = ofRuns;
  return {
    rates: {
      host: hostRatesOf(runs, row),
      device: undefined,
      engine: run ? runnerRatesOf(run) : runnerRates(engine),
    },
    notes: [],
  };
}
