import * as constants from './constants.js';
import type { Native } from './native.js';

/** Declared parameter of a kernel. */
export interface KernelParameter {
  readonly name: string;
  /** Declared type without address space and qualifiers: `'float*'`, `'uint4'`, `'image2d_t'`. */
  readonly type: string;
  /** Address space that a pointer points to; `'global'` for images, `'private'` for values. */
  readonly address: 'global' | 'local' | 'constant' | 'private';
  /** Access qualifier of an image or a pipe; `'none'` for other parameters. */
  readonly access: 'read_only' | 'write_only' | 'read_write' | 'none';
  /** Qualifiers of the type that a pointer points to. */
  readonly qualifiers: readonly ('const' | 'restrict' | 'volatile' | 'pipe')[];
}

const ADDRESSES: ReadonlyMap<number, KernelParameter['address']> = new Map([
  [constants.KERNEL_ARG_ADDRESS_GLOBAL, 'global'],
  [constants.KERNEL_ARG_ADDRESS_LOCAL, 'local'],
  [constants.KERNEL_ARG_ADDRESS_CONSTANT, 'constant'],
]);
const ACCESSES: ReadonlyMap<number, KernelParameter['access']> = new Map([
  [constants.KERNEL_ARG_ACCESS_READ_ONLY, 'read_only'],
  [constants.KERNEL_ARG_ACCESS_WRITE_ONLY, 'write_only'],
  [constants.KERNEL_ARG_ACCESS_READ_WRITE, 'read_write'],
]);
const QUALIFIERS = [
  [constants.KERNEL_ARG_TYPE_CONST, 'const'],
  [constants.KERNEL_ARG_TYPE_RESTRICT, 'restrict'],
  [constants.KERNEL_ARG_TYPE_VOLATILE, 'volatile'],
  [constants.KERNEL_ARG_TYPE_PIPE, 'pipe'],
] as const;

function readParameter(addon: Native, kernel: unknown, index: number): KernelParameter {
  const ask = (what: number) => addon.getKernelArgInfo(kernel, index, what);
  const qualifiers: number = ask(constants.KERNEL_ARG_TYPE_QUALIFIER);
  return Object.freeze({
    name: ask(constants.KERNEL_ARG_NAME),
    type: ask(constants.KERNEL_ARG_TYPE_NAME),
    address: ADDRESSES.get(ask(constants.KERNEL_ARG_ADDRESS_QUALIFIER)) ?? 'private',
    access: ACCESSES.get(ask(constants.KERNEL_ARG_ACCESS_QUALIFIER)) ?? 'none',
    qualifiers: QUALIFIERS.filter(([bit]) => qualifiers & bit).map(([, word]) => word),
  });
}

/** Queries all parameters of a kernel, a handle of the addon, from the driver. */
export function readSignature(addon: Native, kernel: unknown): readonly KernelParameter[] {
  const count: number = addon.getKernelInfo(kernel, constants.KERNEL_NUM_ARGS);
  return Object.freeze(Array.from({ length: count }, (_, index) => readParameter(addon, kernel, index)));
}
