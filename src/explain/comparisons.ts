/** Bitonic sort, odd-even transposition and merge sort, step by step. */
import { bitonic } from '../algorithms/bitonic.js';
import { merge } from '../algorithms/merge.js';
import { oddEven } from '../algorithms/odd-even.js';
import type { Device } from '../device/device.js';
import { agree, line, type Step } from './explanation.js';
import { newIndexOf, type Recording, record, type Subject, startOf, texts, windowOf } from './record.js';

interface Elements {
  readonly codes: bigint[];
  readonly ids: number[];
}

/** A step of a network: the comparators of it, each with its lower place first. */
interface NetworkStep {
  readonly title: string;
  readonly pass: number;
  readonly kernel: string;
  readonly comparators: readonly (readonly [lower: number, upper: number])[];
}

/** The comparators that a step applies, by the model. */
export function compareExchange(
  { codes, ids }: Elements,
  comparators: readonly (readonly [number, number])[],
  bits: readonly [number, number],
  ties: boolean,
): Elements {
  const after = { codes: [...codes], ids: [...ids] };
  for (const [a, b] of comparators) {
    const [x, y] = [windowOf(codes[a] ?? 0n, bits), windowOf(codes[b] ?? 0n, bits)];
    if (x < y || (x === y && !(ties && (ids[a] ?? 0) > (ids[b] ?? 0)))) continue;
    for (const array of [after.codes, after.ids] as unknown[][]) [array[a], array[b]] = [array[b], array[a]];
  }
  return after;
}

function walk(recording: Recording, subject: Subject, steps: readonly NetworkStep[], ties: boolean): Step[] {
  let before: Elements = startOf(subject);
  return steps.map(({ title, pass, kernel, comparators }) => {
    const model = compareExchange(before, comparators, subject.bits, ties);
    const after = recording.after(pass, kernel);
    agree(`keys of ${title}`, after.codes, model.codes);
    agree(`positions of ${title}`, after.ids, model.ids);
    const partners = new Map(
      comparators.flatMap(([a, b]): [number, number][] => [
        [a, b],
        [b, a],
      ]),
    );
    const newIndex = newIndexOf(before.ids, after.ids);
    const [from, to] = [texts(before.codes, subject), texts(after.codes, subject)];
    const lines = [
      line('keys', from),
      line(
        'compared with',
        from.map((_, i) => partners.get(i) ?? '-'),
      ),
      line(
        'exchanged',
        newIndex.map((place, i) => (place === i ? '-' : 'x')),
      ),
      line('new index', newIndex),
      line('keys after', to),
    ];
    before = after;
    return { title, kernels: [kernel], lines, before: from, after: to, newIndex };
  });
}

export async function explainBitonic(device: Device, subject: Subject): Promise<Step[]> {
  const n = subject.patterns.length;
  const recording = await record(device, bitonic, subject, { network: true });
  const steps: NetworkStep[] = [];
  // Pass 0 only encodes the keys, the last one only decodes them.
  let pass = 1;
  const places = Array.from({ length: n }, (_, i) => i);
  for (let size = 2; size < 2 * n; size *= 2) {
    const mirror = (i: number) => i - (i % size) + size - 1 - (i % size);
    const add = (title: string, partner: (i: number) => number) => {
      const pairs = places.map((i) => [i, partner(i)] as const).filter(([a, b]) => a < b && b < n);
      steps.push({ title, pass: pass++, kernel: 'bitonic_step', comparators: pairs });
    };
    add(`blocks of ${size}: mirror`, mirror);
    for (let stride = size / 4; stride >= 1; stride /= 2) {
      add(`blocks of ${size}: distance ${stride}`, (i) => (i & stride ? i - stride : i + stride));
    }
  }
  return walk(recording, subject, steps, true);
}

export async function explainOddEven(device: Device, subject: Subject): Promise<Step[]> {
  const n = subject.patterns.length;
  const recording = await record(device, oddEven, subject, {});
  const steps = Array.from({ length: n }, (_, phase): NetworkStep => {
    const first = phase % 2;
    const pairs = Array.from({ length: Math.floor((n - first) / 2) }, (_, k) => {
      const lower = 2 * k + first;
      return [lower, lower + 1] as const;
    });
    const title = `phase ${phase}: ${first === 0 ? 'even' : 'odd'} places with their right neighbours`;
    return { title, pass: phase, kernel: 'odd_even_phase', comparators: pairs };
  });
  return walk(recording, subject, steps, false);
}

/** Runs with bars between them. */
const withBars = (keys: readonly string[], width: number): string[] =>
  keys.flatMap((key, i) => (i > 0 && i % width === 0 ? ['|', key] : [key]));

export async function explainMerge(device: Device, subject: Subject): Promise<Step[]> {
  const recording = await record(device, merge, subject, { tile: 64 });
  let before: Elements = startOf(subject);
  return Array.from({ length: recording.passes }, (_, pass) => {
    const width = 2 ** pass;
    const { codes, ids } = before;
    // Positions are unique, so sorting pairs of runs by (key, position) is the stable merge.
    const order = codes
      .map((code, i) => ({ pair: Math.floor(i / (2 * width)), key: windowOf(code, subject.bits), i }))
      .toSorted((a, b) => a.pair - b.pair || (a.key < b.key ? -1 : a.key > b.key ? 1 : a.i - b.i));
    const kernels = recording.stages.filter((stage) => stage.pass === pass).map(({ kernel }) => kernel);
    const after = recording.after(pass, kernels.at(-1) ?? '');
    agree(
      `keys of merge ${pass}`,
      after.codes,
      order.map(({ i }) => codes[i] ?? 0n),
    );
    agree(
      `positions of merge ${pass}`,
      after.ids,
      order.map(({ i }) => ids[i] ?? 0),
    );
    const newIndex = newIndexOf(before.ids, after.ids);
    const [from, to] = [texts(before.codes, subject), texts(after.codes, subject)];
    const lines = [
      line('runs', withBars(from, width)),
      line('new index', newIndex),
      line('merged', withBars(to, 2 * width)),
    ];
    before = after;
    const title = `pass ${pass}: runs of ${width} become runs of ${2 * width}`;
    return { title, kernels, lines, before: from, after: to, newIndex };
  });
}
