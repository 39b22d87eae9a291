/** A program of calls, as data: generated from a seed, run by the machine, shrunk and printed. */

/** One argument of a call. */
export type Argument =
  | { readonly is: 'value'; readonly value: unknown }
  /** The result of an earlier step, or an element or property of it; undefined if there is none. */
  | { readonly is: 'result'; readonly step: number; readonly at?: number | string }
  | { readonly is: 'list'; readonly items: readonly Argument[]; readonly trap?: Trap }
  | { readonly is: 'record'; readonly fields: Readonly<Record<string, Argument>>; readonly trap?: Trap }
  | { readonly is: 'callback'; readonly calls: readonly Step[]; readonly throws: boolean };

/** Makes reading one element or property of an argument run code: calls, and an exception if requested. */
export interface Trap {
  readonly at: number | string;
  readonly by: 'getter' | 'proxy';
  readonly calls: readonly Step[];
  readonly throws: boolean;
}

/** One call: a function of the binding, or one of the machine's own, whose names begin with `$`. */
export interface Step {
  readonly id: number;
  readonly call: string;
  readonly arguments: readonly Argument[];
}

export interface Program {
  readonly seed: number;
  readonly steps: readonly Step[];
}

export const value = (of: unknown): Argument => ({ is: 'value', value: of });
export const result = (step: number, at?: number | string): Argument =>
  at === undefined ? { is: 'result', step } : { is: 'result', step, at };
export const list = (items: readonly Argument[], trap?: Trap): Argument =>
  trap ? { is: 'list', items, trap } : { is: 'list', items };
export const record = (fields: Record<string, Argument>, trap?: Trap): Argument =>
  trap ? { is: 'record', fields, trap } : { is: 'record', fields };

/** All steps of an argument, which run when it is read or called. */
export function innerSteps(argument: Argument): readonly Step[] {
  switch (argument.is) {
    case 'callback':
      return argument.calls;
    case 'list':
      return [...(argument.trap?.calls ?? []), ...argument.items.flatMap(innerSteps)];
    case 'record':
      return [...(argument.trap?.calls ?? []), ...Object.values(argument.fields).flatMap(innerSteps)];
    default:
      return [];
  }
}

function literal(of: unknown): string {
  if (typeof of === 'bigint') return `${of}n`;
  if (typeof of === 'number') return Object.is(of, -0) ? '-0' : String(of);
  if (typeof of === 'string' && of.length > 60) return `${JSON.stringify(of.slice(0, 40))}…`;
  return of === undefined ? 'undefined' : JSON.stringify(of);
}

const doing = (calls: readonly Step[], throws: boolean): string =>
  [...calls.map(textOf), ...(throws ? ['throw'] : [])].join('; ');

function trapText(trap: Trap | undefined): string {
  return trap ? ` /* ${trap.by} of ${trap.at}: ${doing(trap.calls, trap.throws)} */` : '';
}

export function argumentText(argument: Argument): string {
  switch (argument.is) {
    case 'value':
      return literal(argument.value);
    case 'result':
      return `s${argument.step}${argument.at === undefined ? '' : `[${literal(argument.at)}]`}`;
    case 'list':
      return `[${argument.items.map(argumentText).join(', ')}]${trapText(argument.trap)}`;
    case 'record': {
      const fields = Object.entries(argument.fields).map(
        ([name, field]) => `${name}: ${argumentText(field)}`,
      );
      return `{ ${fields.join(', ')} }${trapText(argument.trap)}`;
    }
    case 'callback':
      return `() => {${doing(argument.calls, argument.throws)}}`;
  }
}

/** A step as an approximate line of code. */
export const textOf = (step: Step): string =>
  `s${step.id} = ${step.call}(${step.arguments.map(argumentText).join(', ')})`;
