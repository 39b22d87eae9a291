/** What may stand where a value is expected, as far as that is known before anything is opened. */
import { ALGORITHMS } from '../../algorithms/registry.js';
import { DEVICE_WORDS } from '../../device/select-device.js';
import { DISTRIBUTIONS } from '../../io/gen.js';
import { KEY_FORMATS } from '../../io/keys.js';
import { DTYPES } from '../../keys/dtype.js';
import { ABOUT_OPTIONS, type ArgumentSpec, type CommandSpec, type OptionSpec } from '../spec.js';

/** Words to choose from, names of files, or nothing that could be told. */
export type Candidates = readonly string[] | 'files' | 'none';

/** Options of several commands have one meaning. */
const BY_NAME: Readonly<Record<string, Candidates>> = {
  algorithm: ['auto', ...ALGORITHMS.map(({ name }) => name)],
  device: DEVICE_WORDS,
  distribution: DISTRIBUTIONS,
  dtype: DTYPES,
  format: KEY_FORMATS,
};

/** Options whose value is a file or folder. */
const FILES = [
  ...['against', 'baseline', 'counts', 'html', 'journal', 'out', 'out-dir', 'report', 'svg', 'tmp'],
  'workers-folder',
];

export function candidatesOf({ name, type, choices }: OptionSpec): Candidates {
  if (type === 'boolean') return 'none';
  if (choices) return choices;
  return BY_NAME[name] ?? (FILES.includes(name) ? 'files' : 'none');
}

/** Arguments that are no words to choose from are files; `keys` are numbers, and an `id` is known to who was told. */
export const argumentCandidates = ({ name, choices }: ArgumentSpec): Candidates =>
  choices ?? (['keys', 'id'].includes(name) ? 'none' : 'files');

/** The options that are no secret, and those that all commands have. */
export function visibleOptions({ options }: CommandSpec): OptionSpec[] {
  const about = Object.entries(ABOUT_OPTIONS).map(
    ([name, { alias, describe }]): OptionSpec => ({
      ...{ name, alias, describe, type: 'boolean', array: false, required: false, hidden: false },
      ...{ nargs: undefined, choices: undefined, default: undefined },
    }),
  );
  return [...options.filter(({ hidden }) => !hidden), ...about];
}

/** Both forms of an option, the short one first. */
export const formsOf = ({ name, alias }: OptionSpec): string[] =>
  [name, ...(alias === undefined ? [] : [alias])]
    .map((form) => (form.length === 1 ? `-${form}` : `--${form}`))
    .toReversed();
