/** Shared parts of the views of sorting networks: comparators drawn as wires, and checked step by step. */
import { type Access, costOf } from './cost.js';
import { agree, line, type Step } from './explanation.js';
import { afterStep, type Elements, exchanges, type NetworkStep } from './network-model.js';
import { newIndexOf, type Subject, startOf, texts } from './record.js';

/** A network as the device ran it. */
export interface NetworkRun {
  readonly kernel: string;
  readonly source: Step['source'];
  readonly note: string;
  /** Whether equal keys are ordered by their first positions. */
  readonly ties: boolean;
  /** Number of work-items launched per step. */
  readonly items: number;
  readonly steps: readonly NetworkStep[];
  /** Returns the elements that the device left after a step, and the kernel seconds of the step. */
  after(step: number): Elements & { readonly seconds: number | null };
}

/**
 * Returns the steps of a network.
 *
 * @throws MismatchError when the device's elements differ from the model
 */
export function explainNetwork(
  subject: Subject,
  { kernel, source, note, ties, items, steps, after: read }: NetworkRun,
): Step[] {
  let before: Elements = startOf(subject);
  const { bytes } = subject.info;
  return steps.map(({ title, comparators }, number): Step => {
    const model = afterStep(before, comparators, subject.bits, ties);
    const { codes, ids, seconds } = read(number);
    agree(`keys of ${title}`, codes, model.codes);
    agree(`positions of ${title}`, ids, model.ids);
    const partners = new Map(
      comparators.flatMap(([a, b]): [number, number][] => [
        [a, b],
        [b, a],
      ]),
    );
    const swapped = comparators.filter((one) => exchanges(before, one, subject.bits, ties)).flat();
    const changes = new Set(swapped);
    const newIndex = newIndexOf(before.ids, ids);
    const [from, to] = [texts(before.codes, subject), texts(codes, subject)];
    const lines = [
      line('keys', from),
      line(
        'compared with',
        from.map((_, i) => partners.get(i) ?? '-'),
      ),
      line(
        'exchanged',
        from.map((_, i) => (changes.has(i) ? 'x' : '-')),
      ),
      line('new index', newIndex),
      line('keys after', to),
    ];
    // One work-item per comparator; the first ones are active.
    const all = comparators.map(([low, high]) => [Math.min(low, high), Math.max(low, high)] as const);
    const pick = (end: 0 | 1): Access => all.map((pair) => pair[end]);
    const touched = [pick(0), pick(1)].map((access) => ({ access, bytes }));
    const cost = costOf({
      active: Array.from({ length: Math.max(items, all.length) }, (_, i) => i < all.length),
      global: touched,
      kernelSeconds: seconds,
    });
    before = { codes, ids };
    const wires = comparators;
    return { title, note, kernels: [kernel], lines, before: from, after: to, newIndex, wires, cost, source };
  });
}
