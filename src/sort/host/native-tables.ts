import { nativeModule } from './native-module.js';

/** The functions of the addon for tables. */
export type TableFunctions = typeof import('../../native-host/table-functions.js');

let functions: TableFunctions | undefined;

/**
 * Loads the functions of the addon for tables. Without an addon, or if `CLSORT_HOST_ENGINE` is `javascript`, JavaScript
 * reads tables.
 */
export async function loadTableFunctions(): Promise<void> {
  if (functions || (await nativeModule()).nativeProblem()) return;
  functions = await import('../../native-host/table-functions.js');
}

/** Returns the functions of the addon for tables, if they are loaded. */
export const tableFunctions = (): TableFunctions | undefined => functions;
