import * as constants from './constants.js';
import type { Native } from './native.js';

/** Description of a memory object, as `util.inspect` prints it. Image sizes are in pixels. */
export interface Contents {
  /** `'BUFFER'`, `'IMAGE2D'`, …, as in `MEM_OBJECT_…`. */
  readonly type?: string;
  readonly bytes?: number;
  /** Names of the `MEM_…` flags. */
  readonly flags?: readonly string[];
  /** Size of an image in each dimension, then its number of layers if it is an array. */
  readonly size?: readonly number[];
  /** Channel order and channel type of an image. */
  readonly format?: string;
  /** Maximum number of packets of a pipe. */
  readonly packets?: number;
  readonly packetBytes?: number;
  /** Offset of a sub-buffer in bytes. */
  readonly offset?: number;
  /** Number of regions that are currently mapped. */
  readonly maps?: number;
  readonly released?: true;
}

/** Returns the name of a constant; the constants from `first` to `last` are numbered consecutively. */
function nameOf(value: number, first: number, last: number): string | undefined {
  if (!(first <= value && value <= last)) return undefined;
  return Object.entries(constants).find(([, number]) => number === value)?.[0];
}

/** Flags of the OpenCL core; extensions reuse the same bits for other flags. */
const FLAGS = new Set([
  'MEM_READ_WRITE',
  'MEM_WRITE_ONLY',
  'MEM_READ_ONLY',
  'MEM_USE_HOST_PTR',
  'MEM_ALLOC_HOST_PTR',
  'MEM_COPY_HOST_PTR',
  'MEM_HOST_WRITE_ONLY',
  'MEM_HOST_READ_ONLY',
  'MEM_HOST_NO_ACCESS',
  'MEM_SVM_FINE_GRAIN_BUFFER',
  'MEM_SVM_ATOMICS',
  'MEM_KERNEL_READ_AND_WRITE',
]);

const flagsOf = (bits: number): string[] =>
  Object.entries(constants)
    .filter(([name, bit]) => FLAGS.has(name) && bits & Number(bit))
    .sort(([, a], [, b]) => Number(a) - Number(b))
    .map(([name]) => name);

/**
 * Returns the description of a memory object, a handle of the addon. Properties that the driver does not report are left out, so that printing
 * never fails.
 */
export function contentsOf(addon: Native, memory: { readonly released: boolean }): Contents {
  if (memory.released) return { released: true };
  const ask = (
    what: number,
    by: 'getMemObjectInfo' | 'getImageInfo' | 'getPipeInfo' = 'getMemObjectInfo',
  ) => {
    try {
      return addon[by](memory, what);
    } catch {
      return undefined;
    }
  };
  const { R, SNORM_INT8, MEM_OBJECT_BUFFER, MEM_OBJECT_PIPE } = constants;
  const type = nameOf(ask(constants.MEM_TYPE), MEM_OBJECT_BUFFER, MEM_OBJECT_PIPE)?.slice(
    'MEM_OBJECT_'.length,
  );
  const image = (what: number): number => ask(what, 'getImageInfo') ?? 0;
  const { IMAGE_WIDTH, IMAGE_HEIGHT, IMAGE_DEPTH, IMAGE_ARRAY_SIZE } = constants;
  const format = type?.startsWith('IMAGE') ? ask(constants.IMAGE_FORMAT, 'getImageInfo') : undefined;
  const order = nameOf(format?.channel_order, R, SNORM_INT8 - 1);
  const channel = nameOf(format?.channel_data_type, SNORM_INT8, MEM_OBJECT_BUFFER - 1);
  const contents: Record<keyof Contents, unknown> = {
    type,
    bytes: ask(constants.MEM_SIZE),
    flags: flagsOf(ask(constants.MEM_FLAGS)),
    size: format
      ? [IMAGE_WIDTH, IMAGE_HEIGHT, IMAGE_DEPTH, IMAGE_ARRAY_SIZE].map(image).filter((length) => length > 0)
      : undefined,
    format: format && `${order} ${channel}`,
    packets: type === 'PIPE' ? ask(constants.PIPE_MAX_PACKETS, 'getPipeInfo') : undefined,
    packetBytes: type === 'PIPE' ? ask(constants.PIPE_PACKET_SIZE, 'getPipeInfo') : undefined,
    offset: ask(constants.MEM_OFFSET) || undefined,
    maps: ask(constants.MEM_MAP_COUNT) || undefined,
    released: undefined,
  };
  return Object.fromEntries(Object.entries(contents).filter(([, value]) => value !== undefined));
}
