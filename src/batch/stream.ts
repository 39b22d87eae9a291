/** Streamed manifests, with one job per line, whose jobs start before the stream ends. */

import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ioError } from '../io/streams/raw.js';
import { UsageError } from '../util/errors.js';
import { isObject, parseJson } from '../util/json.js';
import { Conflicts } from './conflicts.js';
import { isHead, isJobLine, readDocument, stripBom } from './document.js';
import { globsOf, loadGlob } from './expand.js';
import { BATCH_RULES, type Fault, fieldFaults, JOB_RULES, type Job, jobOf } from './jobs.js';
import { jobsOf, type ManifestSource, parseManifest } from './manifest.js';

/** An invalid line; its job fails, and the others continue. */
export interface WrongLine {
  readonly line: string;
  readonly error: UsageError;
}

export interface Incoming {
  readonly devices: readonly string[];
  readonly jobs: readonly Job[] | AsyncIterable<Job | WrongLine>;
  /** Stops the source; no more jobs are read. */
  readonly stop?: () => void;
}

/**
 * Reads a manifest from a stream. If its first line is a job or a head, jobs are yielded as they arrive; otherwise the
 * whole stream is read first.
 *
 * @param stream the source
 * @param facts name, folder and protected files
 * @throws the errors of `parseManifest`
 * @throws IoError when the stream cannot be read
 */
export async function readManifest(stream: Readable, facts: ManifestSource): Promise<Incoming> {
  const reader = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  const stop = (): void => {
    reader.close();
    stream.destroy();
  };
  try {
    return { ...(await readLines(linesOf(reader, stream, facts.name), facts)), stop };
  } catch (error) {
    stop();
    throw error;
  }
}

async function readLines(
  lines: AsyncGenerator<string, undefined>,
  facts: ManifestSource,
): Promise<Pick<Incoming, 'devices' | 'jobs'>> {
  const before: string[] = [];
  for (;;) {
    const { value, done } = await lines.next();
    if (done) return parseManifest(before.join('\n'), facts);
    before.push(before.length === 0 ? stripBom(value) : value);
    if (value.trim() === '') continue;
    if (isJobLine(value.trim())) break;
    for await (const line of { [Symbol.asyncIterator]: () => lines }) before.push(line);
    return parseManifest(before.join('\n'), facts);
  }
  const first = JSON.parse(before.at(-1) ?? '') as Record<string, unknown>;
  const head = isHead(first) ? first : {};
  const { value: checked, at } = await readDocument(JSON.stringify({ ...head, jobs: [] }), facts.name);
  const faults = fieldFaults(checked as Record<string, unknown>, BATCH_RULES, []);
  if (faults.length === 0)
    faults.push(...fieldFaults((head.defaults as typeof head) ?? {}, JOB_RULES, ['defaults']));
  if (faults[0]) throw new UsageError(`cannot run ${at([])}: ${faults[0].text}`);
  const { devices = [], defaults = {} } = head as { devices?: string[]; defaults?: Record<string, unknown> };
  return {
    devices,
    jobs: jobsOfLines(lines, {
      ...facts,
      defaults,
      before: head === first ? before.length : before.length - 1,
      first: head === first ? undefined : before.at(-1),
    }),
  };
}

/** @throws IoError when the stream fails, which readline does not report in every version of Node */
async function* linesOf(
  reader: Interface,
  stream: Readable,
  name: string,
): AsyncGenerator<string, undefined> {
  let failure: unknown;
  stream.once('error', (error) => {
    failure = error;
    reader.close();
  });
  try {
    yield* reader;
  } catch (error) {
    failure = error;
  }
  if (failure !== undefined) throw ioError('read', name, failure);
}

interface LineContext extends ManifestSource {
  readonly defaults: Record<string, unknown>;
  /** Number of lines already read. */
  readonly before: number;
  /** A line already read that is a job. */
  readonly first: string | undefined;
}

async function* jobsOfLines(
  lines: AsyncIterator<string>,
  { name, folder, protectedFiles = [], defaults, before, first }: LineContext,
): AsyncGenerator<Job | WrongLine> {
  const conflicts = new Conflicts();
  for (const [path, what] of protectedFiles) conflicts.protect(path, what);
  let number = before;
  let glob: Awaited<ReturnType<typeof loadGlob>> | undefined;
  let index = 0;
  for (let line = first ?? (await nextLine(lines)); line !== undefined; line = await nextLine(lines)) {
    number++;
    if (line.trim() === '') continue;
    const faults: Fault[] = [];
    const written = parseJson(line);
    const job = jobOf(written ?? line, defaults, ['jobs', index], faults);
    if (job && globsOf(job, folder).length > 0) glob ??= await loadGlob();
    const jobs = job ? jobsOf({ job, number: index }, { folder, glob, conflicts }, faults) : [];
    index++;
    if (faults.length === 0) yield* jobs;
    else {
      const label = isObject(written) && typeof written.in === 'string' ? written.in : `line ${number}`;
      yield {
        line: label,
        error: new UsageError(`cannot run ${name}:${number}: ${faults.map(({ text }) => text).join('; ')}`),
      };
    }
  }
}

const nextLine = async (lines: AsyncIterator<string>): Promise<string | undefined> => {
  const { value, done } = await lines.next();
  return done ? undefined : value;
};
