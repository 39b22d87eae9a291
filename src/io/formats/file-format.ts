/** A file format that can be detected. */
export interface FileFormat {
  /** Display name with its article, for messages: `a zip archive`. */
  readonly name: string;
  /** File extensions, lowercase and without the dot. */
  readonly extensions: readonly string[];
  /** How such a file may still be read, for messages. */
  readonly hint?: string;
  /**
   * Tests whether a file with these first and last bytes has this format. The test must check at least four fixed
   * bytes and the plausibility of the remaining header, because raw keys may have any value.
   *
   * @param head  the first bytes of the file
   * @param tail  the last bytes of the file; undefined when unknown
   */
  readonly matches?: ((head: Uint8Array, tail: Uint8Array | undefined) => boolean) | undefined;
}
