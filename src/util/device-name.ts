/**
 * Returns the name of a device as people say it: `AMD EPYC (PoCL)` for `pthread-skylake-avx512-AMD EPYC`.
 *
 * @param cores number of CPU cores, if it is to be part of the name
 */
export function deviceName(name: string, cores?: number): string {
  // PoCL names its CPU device after its driver, LLVM's name of the processor, and the processor.
  const pocl = /^(?:pthread|basic|cpu(?:-minimal)?)-(?:.*?-)?(?=[A-Z])/.exec(name)?.[0] ?? '';
  const model = name
    .slice(pocl.length)
    .replaceAll(/\((?:R|TM|tm)\)/g, '')
    .replace(/ \d+GB HBM\w*$/, '')
    .replace(/ (?:CPU|Processor)$/, '')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
  if (pocl === '') return model;
  return `${model}${cores === undefined ? '' : `, ${cores} ${cores === 1 ? 'core' : 'cores'}`} (PoCL)`;
}
