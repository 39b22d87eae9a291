import type { Device } from '../../device/device.js';
import type { PrimitiveTuning } from '../../primitives/primitive-program.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { NativeModule } from '../host/native-module.js';
import type { Steps } from '../host/steps.js';
import type { Column } from '../model/column.js';
import type { Primitive } from './primitive-tuning.js';

/** Dependencies of the device form of a kernel. */
export interface DeviceContext {
  readonly device: Device;
  /** Returns the parameters of a primitive for keys of this dtype and number. */
  tuning(primitive: Primitive, keys: Pick<Column, 'dtype' | 'n'>): PrimitiveTuning;
}

type DeviceForm<A extends readonly unknown[], R> = (context: DeviceContext, ...args: A) => MaybePromise<R>;

/** Runs a function of the addon on n elements, on several threads. */
export type RunOnThreads = (
  name: Parameters<NativeModule['runOnThreads']>[0],
  n: number,
  ...parameters: unknown[]
) => Promise<void>;

/** A kernel of one operation. Its forms return the same bits. */
export interface ColumnKernel<A extends readonly unknown[], R> {
  /** Computes on the host. This form is the specification of the others. */
  host(...args: A): Steps<R>;
  /** Computes large columns in the addon. */
  readonly native?: {
    /** Returns the number of elements, and the columns that the addon accesses. */
    extent(...args: A): readonly [n: number, ...columns: Column[]];
    run(onThreads: RunOnThreads, ...args: A): Promise<R>;
  };
  /** Loads the device form. A program that only uses the host engine does not load it. */
  load(): Promise<DeviceForm<A, R>>;
  /** The device form, once loaded. */
  device?: DeviceForm<A, R>;
}

/** Defines a kernel. */
export const columnKernel = <A extends readonly unknown[], R>(
  kernel: Omit<ColumnKernel<A, R>, 'device'>,
): ColumnKernel<A, R> => kernel;
