/** Maximum duration of a Node timer in seconds, 24 days. A longer timer would fire at once. */
export const MAX_TIMER_SECONDS = (2 ** 31 - 1) / 1000;
