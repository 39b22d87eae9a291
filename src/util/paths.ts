import { packageFolder } from './package.js';

/** The folder that holds package.json and cl/, for tests and scripts, which run in the package itself. */
export const packageRoot = packageFolder();
