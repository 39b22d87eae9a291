import type { Buffer } from '../device/buffer.js';
import type { Queue, Recording } from '../device/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import type { Algorithm, Enqueued, ScratchSizes, SortWork } from './algorithm.js';

/** A sort that was enqueued before, to be enqueued again when all of it is the same. */
interface Remembered {
  readonly work: Omit<SortWork, 'scratch'>;
  readonly sizes: ScratchSizes;
  readonly scratch: readonly Buffer[];
  readonly recording: Recording;
  readonly enqueued: Enqueued;
}

/** Sorts that each algorithm remembers: input and output may alternate. */
const REMEMBERED = 4;
const memory = new WeakMap<Algorithm, Remembered[]>();

/**
 * Runs an algorithm with scratch from the device's pool.
 *
 * A sort with the same buffers as one before is replayed: its launches are not made anew. The scratch stays
 * taken until `release`, to be called after the wait, since the host may still have to read a status word
 * in it.
 *
 * @throws MemoryError when the scratch cannot be had
 */
export function enqueueWithScratch(
  algorithm: Algorithm,
  queue: Queue,
  work: Omit<SortWork, 'scratch'>,
): Enqueued & { release(): void } {
  const { pool } = algorithm.device;
  const taken: Buffer[] = [];
  const release = () => {
    for (const buffer of taken.splice(0)) pool.give(buffer);
  };
  try {
    const remembered = memory.get(algorithm)?.find((one) => sameWork(one.work, work));
    const sizes =
      remembered?.sizes ??
      algorithm.scratch(work.n, { inPlace: work.input === work.output, bits: work.bits });
    for (const [i, bytes] of Object.values(sizes).entries()) {
      taken.push(pool.take(bytes, remembered?.scratch[i]));
    }
    if (remembered?.scratch.every((buffer, i) => buffer === taken[i])) {
      queue.replay(remembered.recording);
      return { ...remembered.enqueued, release };
    }
    const scratch = Object.fromEntries(Object.keys(sizes).map((name, i) => [name, taken[i] as Buffer]));
    let enqueued: Enqueued = {};
    const enqueue = () => {
      enqueued = algorithm.enqueue(queue, { ...work, scratch });
    };
    if (work.onStage) enqueue();
    else {
      const recording = queue.record(enqueue);
      if (recording) remember(algorithm, { work, sizes, scratch: [...taken], recording, enqueued });
    }
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
  ahead?: () => void,
): Promise<number | null> {
  let enqueued: { release(): void } | undefined;
  try {
    return await queue.measure(() => {
      enqueued = sort();
    }, ahead);
  } finally {
    enqueued?.release();
  }
}

function remember(algorithm: Algorithm, one: Remembered): void {
  const all = (memory.get(algorithm) ?? []).filter(({ work }) => !sameWork(work, one.work));
  memory.set(algorithm, [one, ...all].slice(0, REMEMBERED));
}

type Work = Omit<SortWork, 'scratch'>;

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
