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
  { pattern: 'what (?:is|was|are|were|has|have|had) not', instead: 'a noun: missing values, other files' },
  { pattern: 'what (?:comes?|came|stands?|lies|remains?|stays?)', instead: 'a noun' },
  { pattern: 'comes? to nothing', instead: 'fails, has no effect' },
  { pattern: 'at last', instead: 'finally, or the order of the sentence' },
  { pattern: 'in vain', instead: 'without effect' },
  { pattern: 'by (?:itself|themselves)', instead: 'alone, automatically, on its own' },
  { pattern: 'goes? on with|gone on|went on with', instead: 'continues, resumes' },
  { pattern: 'anew', instead: 'again' },
  { pattern: 'lets? go of|let go', instead: 'releases' },
  { pattern: 'there by then|here by then', instead: 'available' },
  { pattern: 'nobody|somebody', instead: 'a named thing: no caller, another process' },
  { pattern: 'ferry|quay|lookout|berths?|milestones|scraps|ordeal', instead: 'the names of the glossary' },
  { pattern: 'proves|proven', instead: 'verifies, shows' },
  { pattern: 'certif(?:y|ies|ied)|certificates?', instead: 'self-test, self-test record' },
];

/**
 * Places where a banned construction is right. `text` is the line or a part of it; a file is a path or a folder that
 * ends with a slash.
 */
export const EXCEPTIONS = [];
