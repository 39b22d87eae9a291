/** Compiles and self-tests ahead what operations need on a device. */
import type { DeviceOptions } from '../device/device.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { Sorter } from '../sort/api/sorter.js';
import { DeviceSession } from '../sort/backend/device-session.js';
import { PlanSelector } from '../sort/calls/plan-selector.js';
import { parse } from '../sort/operations/arguments.js';
import type { CheckedOperation } from '../sort/operations/case.js';
import { CHECKED_OPERATIONS } from '../sort/operations/cases.js';
import { type ClsortError, UnsupportedError } from '../util/errors.js';
import { invalidName } from '../util/suggest.js';
import { AUTO } from './axes.js';
import { Inputs } from './input.js';
import { SIZES } from './self-tests.js';

/** Sizes of calls, which compile the programs beside those of sorts. */
const CALLED_SIZES = [1000, 2 ** 17];

/** Bytes of values that operations sort beside their keys: none, or positions; `sortPairs-8` has its own. */
const VALUE_BYTES = [0, 4];

export interface WarmRequest extends Pick<DeviceOptions, 'onProgram'> {
  /** ID of the device. */
  readonly device: string;
  readonly operations: readonly CheckedOperation[];
  readonly dtypes: readonly Dtype[];
  readonly onWarning: (warning: ClsortError) => void;
  readonly signal: AbortSignal;
  /** Called before each operation. */
  readonly onStep: (operation: string, dtype: Dtype) => void;
}

/**
 * Returns operations by name, or by a prefix, such as `reduce`.
 *
 * @throws UsageError when a name is unknown
 */
export function warmOperations(names: readonly string[]): readonly CheckedOperation[] {
  for (const word of names) {
    if (!CHECKED_OPERATIONS.some(({ name }) => isNamed(name, word))) {
      const known = CHECKED_OPERATIONS.map(({ name }) => name);
      throw invalidName('--operation', word, known);
    }
  }
  return CHECKED_OPERATIONS.filter(({ name }) => names.some((word) => isNamed(name, word)));
}

const isNamed = (name: string, word: string): boolean => name === word || name.startsWith(`${word}-`);

/**
 * Prepares the sorts of each operation at sizes with different plans, then runs the operation. Its results are
 * discarded. Combinations that a device does not support are skipped.
 *
 * @throws ClsortError when a program does not compile or the device fails
 */
export async function warm(request: WarmRequest): Promise<void> {
  const { device, operations, dtypes, onProgram, onWarning, signal, onStep } = request;
  const session = await DeviceSession.open(device, { onProgram }, onWarning);
  const sorter = new Sorter(session, onWarning);
  const inputs = new Inputs();
  try {
    for (const dtype of dtypes) {
      for (const operation of operations) {
        if (signal.aborted) return;
        onStep(operation.name, dtype);
        await prepareSorts(session, operation, dtype, onWarning);
        for (const n of CALLED_SIZES) await call(sorter, operation, inputs, { dtype, n }, onWarning);
      }
    }
  } finally {
    await sorter.close();
  }
}

async function prepareSorts(
  session: DeviceSession,
  { name, sorts }: CheckedOperation,
  dtype: Dtype,
  onWarning: (warning: ClsortError) => void,
): Promise<void> {
  if (sorts === 'none') return;
  const settings = parse({});
  const bits = [0, dtypeInfo(dtype).width] as const;
  for (const valueBytes of name.endsWith('-8') ? [8] : VALUE_BYTES) {
    for (const n of SIZES) {
      await session.run(
        async (backend) => {
          const selector = new PlanSelector({ backend, settings, onWarning });
          await selector.firstUsable({ n, dtype, bits, valueBytes, algorithm: AUTO }, settings);
        },
        { again: true },
      );
    }
  }
}

async function call(
  sorter: Sorter,
  { start }: CheckedOperation,
  inputs: Inputs,
  size: { readonly dtype: Dtype; readonly n: number },
  onWarning: (warning: ClsortError) => void,
): Promise<void> {
  const options = { dtype: size.dtype, onWarning };
  try {
    await start(sorter, inputs.of({ ...CASE, ...size }), {
      ...{ algorithm: AUTO, isStable: true, descending: false, nan: 'last', call: options, sort: options },
    });
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
  }
}

const CASE = { operation: '', algorithm: AUTO, order: 'ascending', keys: 'uniform', seed: 1 } as const;
