/** Longest that a timer of Node runs, 24 days, in seconds: one that is to run longer ends at once. */
export const MAX_TIMER_SECONDS = (2 ** 31 - 1) / 1000;
