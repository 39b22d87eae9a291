/** Recognises command lines that ask for help or the version. */

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
