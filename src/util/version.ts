/** The version of this code: the files that it needs have to be of the same. */
export const VERSION = '0.1.0';
