import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';

/** Supported shells. */
const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

export const builder = (yargs: Argv) =>
  yargs
    .positional('shell', {
      type: 'string',
      choices: SHELLS,
      demandOption: true,
      describe: SHELLS.join(', '),
    })
    .example('source <($0 completion bash)', 'in ~/.bashrc; for zsh, likewise in ~/.zshrc')
    .example('$0 completion fish > ~/.config/fish/completions/clsort.fish', 'install for fish');

export type CompletionArguments = ArgumentsOf<typeof builder>;
