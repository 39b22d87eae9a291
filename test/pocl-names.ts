import { execFileSync } from 'node:child_process';
import { MAIN } from './cli/cli.js';

/**
 * The name parts that distinguish the PoCL devices that POCL_DEVICES calls `basic` and `pthread`: up to version 3 both
 * are the name and the processor, since then `cpu-minimal` and `cpu` and the processor. A separate process queries
 * them, since a driver reads its environment once.
 */
export function poclNames(): readonly [basic: string, pthread: string] {
  const env = { ...process.env, POCL_DEVICES: 'basic pthread' };
  const options = { env, encoding: 'utf8' as const };
  const listed = execFileSync(
    process.execPath,
    [MAIN, 'devices', '--device', 'Portable Computing Language', '--json'],
    options,
  );
  const { devices } = JSON.parse(listed) as { readonly devices: readonly { readonly name: string }[] };
  const [basic, pthread] = devices.map(partOfName);
  if (!basic || !pthread) throw new Error(`PoCL is to have two devices: ${listed}`);
  return [basic, pthread];
}

/** The part of a device's name that distinguishes the two. */
export const partOfName = ({ name }: { readonly name: string }): string =>
  name.split('-').slice(0, 2).join('-');
