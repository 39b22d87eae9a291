/** What a forecast rests on: what was measured before, here, or by a run. */
import { readFile } from 'node:fs/promises';
import { deviceSpecs } from '../device/select-device.js';
import { engineRatesOf, hostRatesOf, type RunReport } from '../engines/forecast/fit.js';
import { measureRates } from '../engines/forecast/measure.js';
import { DEVICE_RATES, ENGINE_RATES, HOST_RATES } from '../engines/forecast/measured.js';
import { readBytes } from '../engines/forecast/quantity.js';
import {
  type DeviceRates,
  deviceNamed,
  type EngineRates,
  hostRatesFor,
  type Rates,
  type UnitKind,
} from '../engines/forecast/rates.js';
import { readRatesFile } from '../engines/forecast/report.js';
import type { SortRequest } from '../engines/make-job.js';
import { defaultMemory } from '../io/external/free-memory.js';
import { ioError } from '../io/raw.js';
import type { RecordOrdering } from '../io/record-ordering.js';
import { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { type Console, say } from './console.js';
import type { PlanArguments } from './options/plan.js';

export interface Units {
  readonly kind: UnitKind;
  readonly order: RecordOrdering;
  readonly request: Pick<SortRequest, 'keys' | 'records'>;
}

export interface Found {
  readonly rates: Rates;
  /** What is to be said of them. */
  readonly notes: readonly string[];
}

/** @throws UsageError, InputError, IoError; with --measure as `Sorter.open` and sorts */
export async function ratesFor(args: PlanArguments, units: Units, console: Console): Promise<Found> {
  const { measure, rates: files = [], engine, device } = args;
  if (measure && files.length > 0)
    throw new UsageError('--measure and --rates are at odds: give one of them');
  if (files.length > 0 && device !== undefined) {
    throw new UsageError('--device is not for --rates, which are those of the devices of a run');
  }
  const said = (['tmp', 'bytes'] as const).find((name) => args[name] !== undefined);
  if (said !== undefined && !measure) throw new UsageError(`--${said} is for --measure`);
  if (measure) return measured(args, units, console);
  if (files.length > 0) return ofFiles(files, units, engine);
  const { row, note } = hostRatesFor(HOST_RATES, units.kind);
  const rates = { host: row, device: deviceOf(device), engine: engineRates(engine) };
  return { rates, notes: note === undefined ? [] : [note] };
}

/** Words that mean a kind of device do so here, too. */
function deviceOf(given: PlanArguments['device']): DeviceRates {
  const specs = deviceSpecs(given ?? ['gpu']);
  const [text = 'gpu'] = specs;
  if (specs.length > 1) throw new UsageError('--device names several: a plan is for nodes that are alike');
  const ofKind = { auto: 0, gpu: 0, cpu: 1 }[text];
  const found = ofKind === undefined ? undefined : DEVICE_RATES.find(({ cpu }) => Number(cpu > 0) === ofKind);
  return found ?? deviceNamed(DEVICE_RATES, text);
}

function engineRates(name: string): EngineRates {
  const found = ENGINE_RATES.find((one) => one.name === name);
  if (!found) throw new UsageError(`nothing was measured of --engine ${name}`);
  return found;
}

async function measured(args: PlanArguments, units: Units, console: Console): Promise<Found> {
  const onWarning = ({ message }: Error): void => say(console, `clsort: warning: ${message}`);
  const sorter = await Sorter.open({ devices: deviceSpecs(args.device ?? ['auto']), onWarning });
  try {
    const { kind, order, request } = units;
    const { host, device } = await measureRates({
      ...{ sorter, kind, order, units: request, folder: args.tmp ?? '.' },
      bytes: args.bytes === undefined ? undefined : readBytes(args.bytes, '--bytes'),
      ...{ memory: defaultMemory(), signal: console.signal },
      onProgress: (what) => {
        if (!console.quiet) say(console, `clsort: measures: ${what}`);
      },
    });
    return { rates: { host, device, engine: engineRates(args.engine) }, notes: [] };
  } finally {
    await sorter.close();
  }
}

async function ofFiles(paths: readonly string[], { kind }: Units, engine: string): Promise<Found> {
  const runs: RunReport[] = [];
  const earlier: Rates[] = [];
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch((error) => {
      throw ioError('read', path, error);
    });
    const found = readRatesFile(text, path);
    const { of, unit } = 'stages' in found ? found : found.host;
    if (of !== kind.of || unit !== kind.unit) {
      throw new UsageError(
        `${path} is about ${of} of ${unit} bytes, and the plan about ${kind.of} of ${kind.unit}: say --record or --dtype as there`,
      );
    }
    if ('stages' in found) runs.push(found);
    else earlier.push(found);
  }
  const [first] = earlier;
  if (first) {
    if (paths.length > 1)
      throw new UsageError('rates of an earlier plan stand alone: give one file with --rates');
    const { engine: known } = first;
    return { rates: { ...first, engine: known?.name === engine ? known : engineRates(engine) }, notes: [] };
  }
  const { row } = hostRatesFor(HOST_RATES, kind);
  const ofRuns = runs.filter((run) => run.engine === engine);
  const [run] = ofRuns;
  return {
    rates: {
      host: hostRatesOf(runs, row),
      device: undefined,
      engine: run ? engineRatesOf(run) : engineRates(engine),
    },
    notes: [],
  };
}
