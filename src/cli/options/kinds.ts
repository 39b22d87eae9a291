/** Common kinds of options. */

/** A switch, off by default. */
export const flag = (describe: string, alias?: string) =>
  ({ type: 'boolean', default: false, describe, ...(alias && { alias }) }) as const;

/** One word, which may begin with a dash; undefined by default. */
export const text = (describe: string, alias?: string) =>
  ({ type: 'string', nargs: 1, describe, ...(alias && { alias }) }) as const;
