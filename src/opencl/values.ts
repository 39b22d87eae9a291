/** Unsigned 64-bit integer: [high 32 bits, low 32 bits]. */
export type HighLow = [high: number, low: number];

/** Size, offset or count: an integer from 0 to 2^53 - 1, or a bigint up to 2^64 - 1. */
export type Size = number | bigint;

/**
 * Sum of constants, or null for none. Undefined is accepted only for an omitted argument, because a misspelt constant
 * is undefined.
 */
export type Flags = number | bigint | null | undefined;

/**
 * Host memory. Calls use it in place, without a copy, wherever the C function takes a pointer; for a view, only its own
 * bytes.
 */
export type HostMemory = ArrayBufferView | ArrayBufferLike;

/** Result of a get…Info call; its type depends on the requested name. */
// biome-ignore lint/suspicious/noExplicitAny: the value's type follows from the number of its name
export type InfoValue = any;
