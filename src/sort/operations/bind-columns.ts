import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { Call } from '../calls/call.js';
import type { Column } from '../model/column.js';

/** Binds columns as inputs of kernels, one after the other. */
export function bindInputs(call: Call, columns: readonly Column[]): MaybePromise<readonly Column[]> {
  const bound: Column[] = [];
  for (const [i, column] of columns.entries()) {
    const next = call.bindInput(column);
    if (next instanceof Promise) {
      return next.then((boundColumn) =>
        chain(bindInputs(call, columns.slice(i + 1)), (others) => [...bound, boundColumn, ...others]),
      );
    }
    bound.push(next);
  }
  return bound;
}

/** Binds columns as outputs of kernels, which `write` fills, and copies them to their destinations. */
export function bindOutputs(
  call: Call,
  to: readonly Column[],
  write: (to: readonly Column[]) => MaybePromise<void>,
): MaybePromise<void> {
  const [first, ...rest] = to;
  if (!first) return write([]);
  return call.bindOutput(first, (firstOutput) =>
    bindOutputs(call, rest, (otherOutputs) => write([firstOutput, ...otherOutputs])),
  );
}
