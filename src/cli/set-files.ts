import { combineFiles, type SetOperation } from '../io/operations/set-files.js';
import { readOrder } from './arguments.js';
import type { Console } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { readInput, readTo } from './key-files.js';
import { readBudget } from './memory-options.js';
import type { SetArguments } from './options/sets.js';
import { printResult, runWithSorter } from './run-with-sorter.js';
import { grouped } from './table.js';

/** Returns a function that runs a set operation, and prints the result. */
export const setRunner =
  (operation: SetOperation) =>
  async (args: SetArguments, console: Console): Promise<ExitCode> => {
    const { a, b, out, verify } = args;
    const keys = { ...readInput(args), ...readOrder(args), to: readTo(args) };
    const job = { ...keys, operation, in: [a, b] as const, out, verify, memory: readBudget(args) };
    const report = await runWithSorter({ ...args, in: job.in }, console, (sorter, context) =>
      combineFiles(sorter, job, context),
    );
    const { n, written, dtype, formats } = report;
    const [from, to] = formats;
    printResult(args, console, {
      json: {
        ...{ schema: `clsort.${operation.toLowerCase()}/1`, n, written, dtype },
        formats: { from, to },
      },
      text: `${grouped(written)} distinct ${dtype} keys, of ${n.map(grouped).join(' and ')}`,
    });
    return EXIT.ok;
  };
