import type { Buffer } from '../device/buffer.js';
import type { Queue, Recording } from '../device/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import type { Algorithm, Enqueued, ScratchSizes, SortWork } from './algorithm.js';

type Work = Omit<SortWork, 'scratch'>;

/** What a sort enqueued, between which buffers. */
interface Recorded {
  readonly scratch: readonly Buffer[];
  readonly recording: Recording;
  readonly enqueued: Enqueued;
}

/** A sort that was enqueued before, to be enqueued again when all of it is the same. */
interface Remembered {
  readonly work: Work;
  readonly sizes: ScratchSizes;
  /** Made when the sort comes again: most of those with many results under way never do. */
  recorded?: Recorded;
  /** How often in turn it came with other scratch than was recorded. */
  missed: number;
}

/** Recording takes longer than a replay saves: where results of a chain take each other's scratch, it is seldom done anew. */
const MAX_MISSED = 8;

/** Sorts that are remembered for each output: inputs may alternate. */
const REMEMBERED = 4;
/** By output, so that any number of results may be under way, and what was freed is forgotten. */
const memory = new WeakMap<Algorithm, WeakMap<Buffer, Remembered[]>>();

/**
 * Runs an algorithm with scratch from the device's pool.
 *
 * A sort that comes for the third time with the same buffers is replayed: its launches are not made anew. The scratch stays
 * taken until `release`, to be called after the wait, since the host may still have to read a status word
 * in it.
 *
 * @throws MemoryError when the scratch cannot be had
 */
export function enqueueWithScratch(
  algorithm: Algorithm,
  queue: Queue,
  work: Work,
): Enqueued & { release(): void } {
  const { pool } = algorithm.device;
  const taken: Buffer[] = [];
  const release = () => {
    for (const buffer of taken.splice(0)) pool.give(buffer);
  };
  try {
    const { n, bits, segments } = work;
    // What is told of segments goes to another word each time. What waits with others is handed over with them.
    const isReplayed = !segments && !queue.hasPendingUploads;
    const known = isReplayed ? recall(algorithm, work) : undefined;
    const options = { inPlace: work.input === work.output, bits, ...(segments && { segments }) };
    const sizes = known?.sizes ?? algorithm.scratch(n, options);
    const scratch: Record<string, Buffer> = {};
    for (const name in sizes) {
      const buffer = pool.take(sizes[name] as number, known?.recorded?.scratch[taken.length]);
      taken.push(buffer);
      scratch[name] = buffer;
    }
    if (known?.recorded?.scratch.every((buffer, i) => buffer === taken[i])) {
      known.missed = 0;
      queue.replay(known.recorded.recording);
      return { ...known.recorded.enqueued, release };
    }
    const enqueue = () => algorithm.enqueue(queue, { ...work, scratch });
    if (work.onStage || !isReplayed) return { ...enqueue(), release };
    if (known && isToBeRecorded(known)) {
      let enqueued: Enqueued = {};
      const recording = queue.record(() => {
        enqueued = enqueue();
      });
      if (recording) known.recorded = { scratch: [...taken], recording, enqueued };
      return { ...enqueued, release };
    }
    const enqueued = enqueue();
    if (!known) remember(algorithm, { work, sizes, missed: 0 });
    return { ...enqueued, release };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Times a sort, as `Queue.measure` does, and gives its scratch back.
 *
 * @param sort enqueues one by `enqueueWithScratch`
 */
export async function measureWithScratch(
  queue: Queue,
  sort: () => { release(): void },
  before?: () => void,
): Promise<number | null> {
  let enqueued: { release(): void } | undefined;
  try {
    return await queue.measure(() => {
      enqueued = sort();
    }, before);
  } finally {
    enqueued?.release();
  }
}

function recall(algorithm: Algorithm, work: Work): Remembered | undefined {
  const all = memory.get(algorithm)?.get(work.output);
  return all?.find((one) => sameWork(one.work, work));
}

/** Asked of a sort that cannot be replayed. */
function isToBeRecorded(known: Remembered): boolean {
  if (!known.recorded) return true;
  known.missed++;
  if (known.missed <= MAX_MISSED) return false;
  known.missed = 0;
  return true;
}

/** Remembers a sort that nothing is known of. */
function remember(algorithm: Algorithm, one: Remembered): void {
  let outputs = memory.get(algorithm);
  if (!outputs) {
    outputs = new WeakMap();
    memory.set(algorithm, outputs);
  }
  const all = outputs.get(one.work.output) ?? [];
  outputs.set(one.work.output, [one, ...all].slice(0, REMEMBERED));
}

const sameWork = (a: Work, b: Work): boolean =>
  a.n === b.n &&
  a.input === b.input &&
  a.output === b.output &&
  a.inputValues === b.inputValues &&
  a.outputValues === b.outputValues &&
  a.indices === b.indices &&
  a.onStage === b.onStage &&
  a.bits[0] === b.bits[0] &&
  a.bits[1] === b.bits[1] &&
  sameCodec(a.codec, b.codec);

const sameCodec = (a: KeyCodec, b: KeyCodec): boolean =>
  a === b || (a.dtype === b.dtype && a.descending === b.descending && a.nanShift === b.nanShift);
