import { allSpecs } from '../commands.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { manPage } from '../man.js';

export async function run(_args: unknown, console: Console): Promise<ExitCode> {
  print(console, manPage(await allSpecs()));
  return EXIT.ok;
}
