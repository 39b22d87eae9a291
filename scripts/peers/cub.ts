import { execFileSync } from 'node:child_process';

/**
 * Returns the version of CUB in a program built from scripts/peers/cub.cu or cub-operations.cu, such as '3.6.0'.
 *
 * @throws the error of the program, if it cannot be run
 */
export const cubVersion = (program: string): string =>
  execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
