/** Policy of tables in any format: its heuristics, with their units and measurements. */

/** Maximum number of first rows that are selected while a table is read. Their codes are held by each reader. */
export const MAX_FIRST_ROWS = 2 ** 16;

/** Rows beyond twice the number of first rows that are kept before candidates are sorted: few sorts of few rows. */
export const SPARE_ROWS = 1024;
