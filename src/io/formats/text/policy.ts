/** Policy of text formats: its heuristics, with their units and measurements. */

/** Bytes of the first sample; in most files it contains that many records. */
export const FIRST_BYTES = 2 ** 20;

/** Sample size from which a single record is enough. */
export const MAX_SAMPLE_BYTES = 2 ** 26;

/** Number of records in a sample, which makes a detection by chance improbable. */
export const SAMPLE_RECORDS = 1000;

/** Size of the read window; it grows for longer records. */
export const WINDOW_BYTES = 2 ** 21;

/** Bytes up to which JavaScript reads a text: loading the addon takes longer. CLSORT_HOST_ENGINE=javascript: always. */
export const MIN_NATIVE_BYTES = 2 ** 16;

/** Values after which JavaScript reads the rest of a window, if the addon stops that soon: the values are no numbers. */
export const MIN_NATIVE_VALUES = 64;
