import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { required } from './kinds.js';

/** Supported shells. */
const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const builder = (yargs: Argv) =>
  yargs
    .positional('shell', { ...required(SHELLS.join(', ')), choices: SHELLS })
    .example('source <($0 completion bash)', 'in ~/.bashrc; for zsh, likewise in ~/.zshrc')
    .example('$0 completion fish > ~/.config/fish/completions/clsort.fish', 'install for fish');

export type CompletionArguments = ArgumentsOf<typeof builder>;
