/** The JavaScript runtime. Other runtimes replace Node, and report their version beside its version. */

const NAMES = { bun: 'Bun', deno: 'Deno' } as const;

/** Returns Bun or Deno with its version; undefined on Node. */
export function otherRuntime(): string | undefined {
  for (const [key, name] of Object.entries(NAMES)) {
    const version = process.versions[key];
    if (version !== undefined) return `${name} ${version}`;
  }
  return undefined;
}

/** Returns the name and version of the runtime. */
export const runtime = (): string => otherRuntime() ?? `Node ${process.versions.node}`;

/** Whether Yarn's Plug'n'Play resolves packages. Child processes then need its options. */
export const isPlugAndPlay = (): boolean => process.versions.pnp !== undefined;
