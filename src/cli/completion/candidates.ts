/** Completion candidates that are known without opening files or devices. */
import { ALGORITHMS } from '../../algorithms/registry.js';
import { DEVICE_WORDS } from '../../device/platform/select-device.js';
import { KEY_FORMATS } from '../../io/formats/keys.js';
import { DISTRIBUTIONS } from '../../io/operations/gen.js';
import { DTYPES } from '../../keys/dtype.js';
import { ABOUT_OPTIONS, type ArgumentSpec, type CommandSpec, type OptionSpec } from '../spec.js';

/** Words to choose from, file names, or no candidates. */
export type Candidates = readonly string[] | 'files' | 'none';

/** Candidates of options that mean the same in several commands. */
const BY_NAME: Readonly<Record<string, Candidates>> = {
  algorithm: ['auto', ...ALGORITHMS.map(({ name }) => name)],
  device: DEVICE_WORDS,
  distribution: DISTRIBUTIONS,
  dtype: DTYPES,
  format: KEY_FORMATS,
  to: KEY_FORMATS,
};

/** Options whose value is a file or a folder. */
const FILES = [
  ...['against', 'baseline', 'counts', 'html', 'journal', 'out', 'out-dir', 'report', 'svg', 'tmp'],
  'workers-folder',
];

export function candidatesOf({ name, type, choices }: OptionSpec): Candidates {
  if (type === 'boolean') return 'none';
  if (choices) return choices;
  return BY_NAME[name] ?? (FILES.includes(name) ? 'files' : 'none');
}

/** Arguments without choices are files, except `keys`, which are numbers, and `id`, which cannot be enumerated. */
export const argumentCandidates = ({ name, choices }: ArgumentSpec): Candidates =>
  choices ?? (['keys', 'id'].includes(name) ? 'none' : 'files');

/** Returns the options of a command that are not hidden, with those that all commands have. */
export function visibleOptions({ options }: CommandSpec): OptionSpec[] {
  const about = Object.entries(ABOUT_OPTIONS).map(
    ([name, { alias, describe }]): OptionSpec => ({
      ...{ name, alias, describe, type: 'boolean', array: false, required: false, hidden: false },
      ...{ nargs: undefined, choices: undefined, default: undefined },
    }),
  );
  return [...options.filter(({ hidden }) => !hidden), ...about];
}

/** Returns the forms of an option, the short one first. */
export const formsOf = ({ name, alias }: OptionSpec): string[] =>
  [name, ...(alias === undefined ? [] : [alias])]
    .map((form) => (form.length === 1 ? `-${form}` : `--${form}`))
    .toReversed();
