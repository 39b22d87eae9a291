/** So many open files are enough for every command, and for each process of a batch: their own modules are read many at once. */
const MIN_OPEN_FILES = 256;

/** Says that a process could not load its own modules. */
export const OPEN_FILES_MESSAGE = `a process may not open as many files at once as it needs: let it have ${MIN_OPEN_FILES} (ulimit -n)`;

/** Has a process said, or an error, that no more files can be opened? */
export const isOpenFilesError = (text: string): boolean => /\bEMFILE\b/.test(text);
