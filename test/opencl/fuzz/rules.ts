import type { Draft } from './draft.js';
import { argumentText, type Step, textOf } from './program.js';

/** Valid calls that a driver does not survive: a plain C program with these calls shows the same. */
export interface Rule {
  readonly name: string;
  readonly devices: readonly string[];
  readonly reason: string;
  /** Whether a step is such a call. */
  readonly forbids: (step: Step, draft: Draft) => boolean;
}

export const RULES: readonly Rule[] = [
  {
    name: 'a program is linked once',
    devices: ['rusticl'],
    reason:
      'clLinkProgram locks each program while it holds the others, and waits for itself when one comes twice',
    forbids: ({ call, arguments: [, , , programs] }) =>
      call === 'linkProgram' &&
      programs?.is === 'list' &&
      new Set(programs.items.map(argumentText)).size < programs.items.length,
  },
  {
    name: 'the simulator links nothing',
    devices: ['oclgrind'],
    reason:
      'its linker ends the process for a symbol that is there twice, and for a program that was not compiled',
    forbids: ({ call }) => call === 'linkProgram',
  },
  {
    name: 'no image is larger than memory',
    devices: ['oclgrind'],
    reason: 'it lets the exception pass when there is no room for one',
    forbids: (step) =>
      step.call.startsWith('createImage') &&
      (textOf(step).match(/\d+/g) ?? []).some((number) => BigInt(number) > 65_536n),
  },
  {
    name: 'a driver for one thread stays one',
    devices: ['clover', 'oclgrind'],
    reason: 'whoever drives them from several threads has been told that they crash',
    forbids: ({ call }) => call === 'setSingleThreaded',
  },
];

/** The rule that excludes a step from programs for a device. */
export const forbidding = (step: Step, draft: Draft): Rule | undefined =>
  RULES.find(({ devices, forbids }) => devices.includes(draft.traits.name) && forbids(step, draft));
