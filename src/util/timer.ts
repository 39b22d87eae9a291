/** Maximum duration of a Node timer in milliseconds, 24 days. A longer timer would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
