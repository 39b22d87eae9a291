/** Two devices of one driver, for multi-device tests. Import it before anything that opens a device. */
process.env.POCL_DEVICES = 'basic pthread';

export const PLATFORM = 'Portable Computing Language';
