import { native } from './binding.js';
import type { Context, Sampler } from './objects.js';
import type { Properties } from './types.js';
import type { InfoValue } from './values.js';

/**
 * Creates a sampler. Calls clCreateSampler.
 *
 * @param context context of the sampler
 * @param normalizedCoords whether image coordinates are normalized
 * @param addressingMode `ADDRESS_…`
 * @param filterMode `FILTER_…`
 * @returns the sampler
 * @throws OpenCLError INVALID_CONTEXT, INVALID_VALUE; INVALID_OPERATION when no device supports images
 * @example
 * ```ts
 * const sampler = cl.createSampler(context, false, cl.ADDRESS_CLAMP, cl.FILTER_NEAREST);
 * ```
 */
export function createSampler(
  context: Context,
  normalizedCoords: boolean | number,
  addressingMode: number,
  filterMode: number,
): Sampler {
  return native().createSampler(context, normalizedCoords, addressingMode, filterMode);
}

/**
 * Creates a sampler with a list of properties. Calls clCreateSamplerWithProperties (OpenCL 2.0).
 *
 * @param context context of the sampler
 * @param properties such as `[SAMPLER_FILTER_MODE, FILTER_LINEAR]`; the final 0 is added
 * @returns the sampler
 * @throws OpenCLError INVALID_CONTEXT, INVALID_VALUE, INVALID_OPERATION
 * @example
 * ```ts
 * const properties = [cl.SAMPLER_FILTER_MODE, cl.FILTER_LINEAR];
 * const sampler = cl.createSamplerWithProperties(context, properties);
 * ```
 */
export function createSamplerWithProperties(context: Context, properties?: Properties): Sampler {
  return native().createSamplerWithProperties(context, properties);
}

/**
 * Adds a reference to a sampler. Calls clRetainSampler.
 *
 * @param sampler sampler to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_SAMPLER
 * @example
 * ```ts
 * cl.retainSampler(sampler);
 * ```
 */
export function retainSampler(sampler: Sampler): 0 {
  return native().retainSampler(sampler);
}

/**
 * Removes a reference from a sampler. Calls clReleaseSampler.
 *
 * @param sampler sampler to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_SAMPLER, also when it is already released
 * @example
 * ```ts
 * cl.releaseSampler(sampler);
 * ```
 */
export function releaseSampler(sampler: Sampler): 0 {
  return native().releaseSampler(sampler);
}

/**
 * Returns information about a sampler. Calls clGetSamplerInfo.
 *
 * @param sampler sampler to query
 * @param name `SAMPLER_FILTER_MODE`, …
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_SAMPLER, INVALID_VALUE
 * @example
 * ```ts
 * const filter = cl.getSamplerInfo(sampler, cl.SAMPLER_FILTER_MODE);
 * ```
 */
export function getSamplerInfo(sampler: Sampler, name: number): InfoValue {
  return native().getSamplerInfo(sampler, name);
}
