/** What is asked about the command itself: that opens no file and no device, so it needs no thread of its own. */

/** Verbs that print what is known of the others. */
const ABOUT_VERBS = ['completion', 'man'];

/** The words that may be options: none behind `--`. */
export function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/** Is help or the version asked for, which goes before all else? */
export function asked(argv: readonly string[]): 'help' | 'version' | undefined {
  if (argv[0] === 'help') return 'help';
  const words = beforeDashes(argv);
  if (words.some((word) => word === '--help' || word === '-h')) return 'help';
  if (words.some((word) => word === '--version' || word === '-V')) return 'version';
  return undefined;
}

/** Does the command line only ask about the command? */
export const isAbout = (argv: readonly string[]): boolean =>
  asked(argv) !== undefined || ABOUT_VERBS.includes(argv[0] ?? '');
