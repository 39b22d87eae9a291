import type { Buffer } from '../device/memory/buffer.js';
import type { Queue, Recording } from '../device/queue/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import type { Algorithm, Enqueued, ScratchSizes, SortWork } from './algorithm.js';

type Work = Omit<SortWork, 'scratch'>;

/** The recorded commands of a sort and their scratch buffers. */
interface Recorded {
  readonly scratch: readonly Buffer[];
  readonly recording: Recording;
  readonly enqueued: Enqueued;
}

/** A sort that was enqueued before, so that an identical one can be replayed. */
interface Remembered {
  readonly work: Work;
  readonly sizes: ScratchSizes;
  /** Recorded when the sort is repeated: most sorts with many pending results never are. */
  recorded?: Recorded;
  /** Consecutive times that the pool returned other scratch than was recorded. */
  missed: number;
}

/**
 * Recording takes longer than a replay saves. If the results of a chain swap their scratch, it is rarely repeated.
 */
const MAX_MISSED = 8;

/** Remembered sorts per output: inputs may alternate. */
const REMEMBERED = 4;
/** Keyed by output: any number of results may be pending, and entries of freed outputs are dropped. */
const memory = new WeakMap<Algorithm, WeakMap<Buffer, Remembered[]>>();

/**
 * Runs an algorithm with scratch from the device's pool.
 *
 * The third sort with the same buffers, and later ones, are replayed from a recording. The scratch stays allocated
 * until `release`, to be called after the wait, because the host may still have to read a status word in it.
 *
 * @throws MemoryError when the scratch cannot be allocated
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
    // The status slot of segments changes with each call, and pending uploads must be submitted with their sort.
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
 * Times a sort, as `Queue.measure` does, and releases its scratch.
 *
 * @param sort enqueues one sort by `enqueueWithScratch`
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

/** Returns whether to record a sort that cannot be replayed. */
function isToBeRecorded(known: Remembered): boolean {
  if (!known.recorded) return true;
  known.missed++;
  if (known.missed <= MAX_MISSED) return false;
  known.missed = 0;
  return true;
}

/** Remembers a sort that is not known yet. */
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
