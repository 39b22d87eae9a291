/**
 * Whether Oclgrind checks for uninitialised reads. Version 21.10 identifies a buffer by its number, does not forget a
 * released one, and takes the host's last write for the whole buffer. What kernels write behind the end of that write,
 * later or into a larger buffer with the same number, counts as never written. Under this check buffers are therefore
 * not reused.
 */
export const CHECKS_READS = process.env.OCLGRIND_UNINITIALIZED === '1';
