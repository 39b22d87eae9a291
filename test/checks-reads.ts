/**
 * Whether Oclgrind checks for uninitialised reads. Version 21.10 identifies a buffer by its number, does not
 * forget a released one, and takes the host's last write for all of it: whatever kernels write behind its end,
 * later or into a larger buffer that got the number, counts as never written. So under this check no buffer is
 * used twice.
 */
export const CHECKS_READS = process.env.OCLGRIND_UNINITIALIZED === '1';
