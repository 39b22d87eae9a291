import type { Checksums, CopiedBuffer } from '../verification/checksum.js';

/** A transfer whose two sides are to be compared after the wait. */
interface Transfer {
  same(): Promise<boolean>;
  /** Does it once more, and waits for it. */
  again?(): Promise<void>;
}

/** The transfers of a call that is verified; of one that is not, none. */
export class CheckedTransfers {
  readonly #checksums: (() => Promise<Checksums>) | undefined;
  readonly #transfers: Transfer[] = [];

  /** @param checksums left out where nothing is to be checked */
  constructor(checksums?: () => Promise<Checksums>) {
    this.#checksums = checksums;
  }

  /** Compiles what is needed, so that nothing waits for it between other commands. @throws BuildError */
  async prepare(): Promise<void> {
    await this.#checksums?.();
  }

  /**
   * Has transfers checked: those into buffers that came before, or those from buffers that follow.
   *
   * @param again does them once more, where that is possible, and waits for it
   * @throws BuildError, MemoryError
   */
  async watch(copies: readonly CopiedBuffer[], again?: () => Promise<void>): Promise<void> {
    if (!this.#checksums || copies.length === 0) return;
    const same = (await this.#checksums()).enqueueComparison(copies);
    this.#transfers.push({ same, ...(again && { again }) });
  }

  /** To be asked after the wait: do both sides hold the same, at the second go at the latest? */
  async same(): Promise<boolean> {
    for (const { same, again } of this.#transfers.splice(0)) {
      if (await same()) continue;
      await again?.();
      if (!again || !(await same())) return false;
    }
    return true;
  }
}
