/** What runs this program: other runtimes take the place of Node, and say so beside its version. */

const NAMES = { bun: 'Bun', deno: 'Deno' } as const;

/** Bun or Deno with its version; undefined on Node. */
export function otherRuntime(): string | undefined {
  for (const [key, name] of Object.entries(NAMES)) {
    const version = process.versions[key];
    if (version !== undefined) return `${name} ${version}`;
  }
  return undefined;
}

/** The name and version of the runtime. */
export const runtime = (): string => otherRuntime() ?? `Node ${process.versions.node}`;

/** Does Yarn's Plug'n'Play resolve packages? Then a child process needs its options, too. */
export const isPlugAndPlay = (): boolean => process.versions.pnp !== undefined;
