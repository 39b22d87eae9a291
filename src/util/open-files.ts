/** Open files that suffice for every command and for each process of a batch, which load many modules at once. */
const MIN_OPEN_FILES = 256;

/** Message for a process that could not load its own modules. */
export const OPEN_FILES_MESSAGE = `a process may not open as many files at once as it needs: let it have ${MIN_OPEN_FILES} (ulimit -n)`;

/** Whether a text reports that no more files can be opened. */
export const isOpenFilesError = (text: string): boolean => /\bEMFILE\b/.test(text);
