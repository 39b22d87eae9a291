/**
 * Constructions that readers stumbled over, with what to write instead.
 *
 * A pattern is the source of a regular expression, which is matched at word boundaries and without regard to case.
 */
export const BANNED = [
  { pattern: '(?:is|are|was|were|be|been|being|gets?) told', instead: 'receives, is notified, is reported' },
  { pattern: 'told', instead: 'reported, printed, passed, given' },
  { pattern: 'tells?', instead: 'reports, prints, returns, says' },
  { pattern: 'whom|whoever', instead: 'a named thing: the caller, the reader, the queue' },
  { pattern: '(?:for|by|to|from|of) who', instead: 'a named thing: for a caller that …' },
  {
    pattern: 'who (?:has|have|asks?|wants?|reads?|waits?|writes?|uses?|needs?|gives?|takes?|calls?)',
    instead: 'a named thing: a caller that has …',
  },
  {
    pattern: '(?:what|whatever) (?:is|was|are|were|has|have|had|does|did|do) (?:not|in order|too)',
    instead: 'a noun: missing values, other files, sorted arrays',
  },
  {
    pattern: 'what (?:comes?|came|stands?|lies|remains?|stays?|depends?|defines?|neither|nothing)',
    instead: 'a noun',
  },
  { pattern: 'asks? nothing|the second time it', instead: 'runs non-interactively, is idempotent' },
  { pattern: 'the most that there (?:is|are|was|were)', instead: 'the peak, the maximum' },
  { pattern: '(?<!round )trips? to', instead: 'transfer to' },
  { pattern: 'an error that says so', instead: 'raises an UnsupportedError' },
  { pattern: 'say to be|than memory holds|as it looks', instead: 'identifies; exceeds memory; detected' },
  { pattern: 'too(?=[.;:,)])', instead: 'also, before the verb' },
  { pattern: 'both or none', instead: 'both, or neither: state what is expected' },
  { pattern: 'no room for|do(?:es)? without', instead: 'out of memory, falls back to' },
  { pattern: 'comes? to nothing', instead: 'fails, has no effect' },
  { pattern: 'at last', instead: 'finally, or the order of the sentence' },
  { pattern: 'in vain', instead: 'without effect' },
  { pattern: 'by (?:itself|themselves)', instead: 'alone, automatically, on its own' },
  { pattern: 'of (?:its|their) own accord', instead: 'automatically' },
  { pattern: 'go(?:es)? on with|gone on|went on with', instead: 'continues, resumes' },
  { pattern: 'holds? that', instead: 'asserts, verifies' },
  { pattern: 'lets? (?:it|them|us|others|nobody|somebody) by', instead: 'passes, admits' },
  { pattern: 'anew', instead: 'again' },
  { pattern: 'lets? go of|let go', instead: 'releases' },
  { pattern: 'there by then|here by then', instead: 'available' },
  { pattern: 'nobody|somebody', instead: 'a named thing: no caller, another process' },
  {
    pattern: 'ferry|ferries|quays?|shores?|lookouts?|berths?|trays?|milestones?|scraps?|ordeals?|crews?',
    instead: 'the names of the glossary',
  },
  {
    pattern: 'two-rings|caught-up|held-bytes|loop-yield|device-keeper|arriving-words',
    instead: 'the new names',
  },
  { pattern: 'lends?|lent|lending', instead: 'binds, bound: host memory' },
  { pattern: 'proves|proven|proofs?', instead: 'verifies, shows, verification' },
  { pattern: 'certif(?:y|ies|ied)|certificates?', instead: 'self-test, self-test record' },
];

/**
 * Places where a banned construction is right. `text` is the line or a part of it; a file is a path or a folder that
 * ends with a slash.
 */
export const EXCEPTIONS = [];
