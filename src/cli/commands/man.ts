import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { manPage } from '../man.js';
import { allSpecs } from '../specs.js';

export async function run(_args: unknown, console: Console): Promise<ExitCode> {
  print(console, manPage(await allSpecs()));
  return EXIT.ok;
}
