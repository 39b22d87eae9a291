/**
 * Recognises command lines about the command itself (help, version, `completion`, `man`). They open no file or device,
 * so they need no worker thread.
 */

/** Verbs that print documentation about the other verbs. */
const ABOUT_VERBS = ['completion', 'man'];

/** Returns the words before `--`; only these may be options. */
export function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/** Returns whether the command line asks for help or the version. Both take precedence over any command. */
export function asked(argv: readonly string[]): 'help' | 'version' | undefined {
  if (argv[0] === 'help') return 'help';
  const words = beforeDashes(argv);
  if (words.some((word) => /^(-h|--help(=.*)?)$/.test(word))) return 'help';
  // For sort(1), -V is natural order.
  const version = argv[0] === 'sort' ? ['--version'] : ['--version', '-V'];
  if (words.some((word) => version.includes(word))) return 'version';
  return undefined;
}

/** Returns true for a command line that only asks about the command. */
export const isAbout = (argv: readonly string[]): boolean =>
  asked(argv) !== undefined || ABOUT_VERBS.includes(argv[0] ?? '');
