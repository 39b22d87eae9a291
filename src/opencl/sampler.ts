import { native } from './binding.js';
import type { Context, Sampler } from './objects.js';
import type { InfoValue, Properties } from './types.js';

/**
 * A sampler. Calls clCreateSampler.
 *
 * @param addressingMode `ADDRESS_…`
 * @param filterMode `FILTER_…`
 * @throws INVALID_CONTEXT, INVALID_VALUE, INVALID_OPERATION where no device has images
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
 * A sampler. Calls clCreateSamplerWithProperties (OpenCL 2.0).
 *
 * @param properties such as `[SAMPLER_FILTER_MODE, FILTER_LINEAR]`; the final 0 is added
 * @throws INVALID_CONTEXT, INVALID_VALUE, INVALID_OPERATION
 */
export function createSamplerWithProperties(context: Context, properties?: Properties): Sampler {
  return native().createSamplerWithProperties(context, properties);
}

/**
 * Adds a reference. Calls clRetainSampler.
 *
 * @throws INVALID_SAMPLER
 */
export function retainSampler(sampler: Sampler): 0 {
  return native().retainSampler(sampler);
}

/**
 * Gives a reference back. Calls clReleaseSampler.
 *
 * @throws INVALID_SAMPLER, also for a sampler that is released already
 */
export function releaseSampler(sampler: Sampler): 0 {
  return native().releaseSampler(sampler);
}

/**
 * A fact about a sampler. Calls clGetSamplerInfo.
 *
 * @param name `SAMPLER_FILTER_MODE`, …
 * @throws INVALID_SAMPLER, INVALID_VALUE
 */
export function getSamplerInfo(sampler: Sampler, name: number): InfoValue {
  return native().getSamplerInfo(sampler, name);
}
