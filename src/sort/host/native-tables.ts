import { nativeModule } from './native-module.js';

/** The functions of the addon for tables and lines of text. */
export type TableFunctions = typeof import('../../native-host/table-functions.js') &
  typeof import('../../native-host/line-functions.js');

let functions: TableFunctions | undefined;

/**
 * Loads the functions of the addon for tables and lines of text. Without an addon, or if `CLSORT_HOST_ENGINE` is
 * `javascript`, JavaScript reads them.
 */
export async function loadTableFunctions(): Promise<void> {
  if (functions || (await nativeModule()).nativeProblem()) return;
  const [tables, lines] = await Promise.all([
    import('../../native-host/table-functions.js'),
    import('../../native-host/line-functions.js'),
  ]);
  functions = { ...tables, ...lines };
}

/** Returns these functions, if they are loaded. */
export const tableFunctions = (): TableFunctions | undefined => functions;
