/** Common kinds of options and arguments. */

/** A switch, off by default. */
export const flag = (describe: string, alias?: string) =>
  ({ type: 'boolean', default: false, describe, ...(alias && { alias }) }) as const;

/** One word, which may begin with a dash; undefined by default. */
export const text = (describe: string, alias?: string) =>
  ({ type: 'string', nargs: 1, describe, ...(alias && { alias }) }) as const;

/** One number, which may be negative; undefined by default. */
export const number = (describe: string) => ({ type: 'number', nargs: 1, describe }) as const;

/** One word, or nothing if the next word is an option; undefined by default. */
export const word = (describe: string) => ({ type: 'string', describe }) as const;

/** One word for each time that the option is given. */
export const texts = (describe: string) => ({ type: 'string', array: true, nargs: 1, describe }) as const;

/** All words up to the next option. */
export const words = (describe: string) => ({ type: 'string', array: true, describe }) as const;

/** One word that must be given. */
export const required = (describe: string) => ({ type: 'string', demandOption: true, describe }) as const;

/** All words up to the next option, at least one. */
export const requiredWords = (describe: string) => ({ ...words(describe), demandOption: true }) as const;
