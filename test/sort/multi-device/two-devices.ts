/** Two devices of one driver, for tests of several: to be imported before anything that opens a device. */
process.env.POCL_DEVICES = 'basic pthread';

export const PLATFORM = 'Portable Computing Language';
