/** So many open files are enough for every command, and for each process of a batch: their own modules are read many at once. */
const ENOUGH = 256;

/** Says that a process could not load its own modules. */
export const TOO_FEW_FILES = `a process may not open as many files at once as it needs: let it have ${ENOUGH} (ulimit -n)`;

/** Has a process said, or an error, that no more files can be opened? */
export const tellsOfTooFewFiles = (said: string): boolean => /\bEMFILE\b/.test(said);
