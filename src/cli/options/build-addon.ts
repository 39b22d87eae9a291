import type { Argv } from 'yargs';

export const builder = (yargs: Argv) =>
  yargs
    .example('npx $0 build-addon', 'after an installation without a prebuilt addon')
    .epilogue('Needs a C++ compiler, make, Python 3, the OpenCL headers and, from npm, node-gyp.');
