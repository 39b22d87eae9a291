/** Part of the platform's name by which the tests know a driver. */
export const PLATFORMS: Readonly<Record<string, string>> = {
  pocl: 'Portable Computing Language',
  rusticl: 'rusticl',
  clover: 'Clover',
  oclgrind: 'Oclgrind',
};

/** Simulators and slow drivers, which run the small sizes only. */
export const SMALL = new Set(['rusticl', 'clover', 'oclgrind']);
