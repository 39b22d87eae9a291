/** Parsers for the options of verbs that select or reorder rows at random. */
import { randomBytes } from 'node:crypto';
import { areLines } from '../io/lines/recognise.js';
import type { RowJob, RowSource } from '../io/tables/row-source.js';
import { readSeed } from './arguments.js';
import type { Console } from './console.js';
import { readInput, readTo } from './key-files.js';
import { readSpill } from './memory-options.js';
import { cannotCombine } from './option-errors.js';
import type { RowArguments } from './options/rows.js';

/** Options that lines do not have. */
const OTHER_OPTIONS = ['dtype', 'column', 'to', 'header', 'no-header', 'delimiter'] as const;

const LINES = 'lines';

/**
 * Reads inputs, output, seed and memory.
 *
 * @throws UsageError when an option is invalid or does not apply to lines
 * @throws DtypeError when the dtype is unknown
 */
export async function readRows(args: RowArguments, { stdin }: Pick<Console, 'stdin'>) {
  const { in: inputs, out, format, seed, 'zero-terminated': zero } = args;
  const other = OTHER_OPTIONS.find((name) => args[name] !== undefined);
  const isGiven = format === LINES || zero;
  if (isGiven && other !== undefined) {
    throw cannotCombine(
      `--${other}`,
      zero ? '--zero-terminated' : `--format ${LINES}`,
      'the latter is for lines of text',
    );
  }
  const isText = isGiven || (format === 'auto' && other === undefined && (await areLines(inputs, stdin)));
  const job: RowJob = isText
    ? { in: inputs, out, terminator: zero ? 0 : 0x0a }
    : { ...readInput(args), in: inputs, out, to: readTo(args) };
  return { ...job, ...readSpill(args), seed: seed === undefined ? randomSeed() : readSeed(seed) };
}

const randomSeed = (): bigint => randomBytes(8).readBigUInt64LE();

/** Returns the fields that the JSON reports of these verbs share. */
export function rowFacts({ formats: [from, to], noun }: Pick<RowSource, 'formats' | 'noun'>, seed: bigint) {
  return { of: noun, seed: String(seed), formats: { from, to } };
}
