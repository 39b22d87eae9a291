import type { Checksums, CopiedBuffer } from '../verification/checksum.js';

/** A transfer whose source and destination are compared after the wait. */
interface Transfer {
  same(): Promise<boolean>;
  /** Repeats the transfer and waits for it. */
  again?(): Promise<void>;
}

/** The transfers of a call that is verified. Without verification it is empty. */
export class CheckedTransfers {
  readonly #checksums: (() => Promise<Checksums>) | undefined;
  readonly #transfers: Transfer[] = [];

  /** @param checksums omitted to check nothing */
  constructor(checksums?: () => Promise<Checksums>) {
    this.#checksums = checksums;
  }

  /**
   * Compiles the checksum kernels, so that no compilation delays other commands.
   *
   * @throws BuildError when they do not compile
   */
  async prepare(): Promise<void> {
    await this.#checksums?.();
  }

  /**
   * Registers transfers to check: uploads that were enqueued before, or downloads that are enqueued next.
   *
   * @param copies buffers and the host memory that they are copied from or to
   * @param again repeats the transfers and waits for them; omitted if they cannot be repeated
   * @throws BuildError when the checksum kernels do not compile
   * @throws MemoryError when memory runs out
   */
  async watch(copies: readonly CopiedBuffer[], again?: () => Promise<void>): Promise<void> {
    if (!this.#checksums || copies.length === 0) return;
    const same = (await this.#checksums()).enqueueComparison(copies);
    this.#transfers.push({ same, ...(again && { again }) });
  }

  /**
   * Compares both sides of each transfer, after the wait. A transfer that differs is repeated once if possible.
   *
   * @returns whether all are equal
   */
  async same(): Promise<boolean> {
    for (const { same, again } of this.#transfers.splice(0)) {
      if (await same()) continue;
      await again?.();
      if (!again || !(await same())) return false;
    }
    return true;
  }
}
