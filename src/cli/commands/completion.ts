import { bashScript } from '../completion/bash.js';
import { fishScript } from '../completion/fish.js';
import { zshScript } from '../completion/zsh.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { CompletionArguments } from '../options/completion.js';
import { allSpecs } from '../specs.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export async function run({ shell }: CompletionArguments, console: Console): Promise<ExitCode> {
  print(console, SCRIPTS[shell](await allSpecs()));
  return EXIT.ok;
}
