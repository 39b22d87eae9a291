/**
 * Rules of the linter for English (scripts/docs/check-prose.mjs) with their options, and what they report wrongly.
 *
 * `write-good`: passive voice, adverbs (`only`, `exactly`), `So` and `There are` at the start of a sentence are off,
 * since they are usual in a reference.
 */
export const RULES = {
  'write-good': { passive: false, adverb: false, so: false, thereIs: false },
  terminology: true,
};

/** Words that are right wherever they are. They are written in lower case. */
export const ALLOWED = [
  {
    words: ['maximum', 'minimum', 'remainder', 'magnitude', 'allocate', 'retain', 'multiple', 'satisfy'],
    reason: 'terms of arithmetic and of OpenCL',
  },
  {
    words: ['evaluate', 'validate', 'implement', 'indicate', 'utilization', 'exclusively', 'equivalent'],
    reason: 'terms of programming',
  },
  {
    words: ['many', 'several', 'few', 'fairly', 'mostly', 'completely', 'tiny', 'large', 'sufficient'],
    reason: 'quantities, where the number varies, and the opposite of partially',
  },
  {
    words: [
      'it is',
      'it was',
      'all of',
      'type of',
      'a number of',
      'is a number',
      'similar to',
      'benefit from',
    ],
    reason: 'parts of longer phrases: "if it is set", "all of them", "a number of keys"',
  },
  { words: ['in addition', 'additional', 'in between', 'therefore', 'however'], reason: 'no shorter word' },
  {
    words: ['file name', 'file names', 'host name', 'lock file', 'lock files'],
    reason: 'two words in this project',
  },
  { words: ['bash', 'zsh', 'git', 'ava'], reason: 'names of commands' },
  {
    words: ['slurm', 'ok'],
    reason: 'values of options and reports, which help texts have without backquotes',
  },
  { words: ['end to end', 'off by one'], reason: 'adverbs, which have no hyphen' },
  { words: ['0', '2', '5', 'h.'], reason: 'sequences of numbers, and initials' },
];

/** Lines where a finding is wrong. `text` is a part of the line; each has a reason. */
export const EXCEPTIONS = [
  { file: 'src/cli/options/engine.ts', text: '--partition=gpu', reason: 'an argument of sbatch' },
];
