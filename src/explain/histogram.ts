/** Explains histograms: the layout of the counters, its cost, and the merge of the work-groups' histograms. */
import type { Device } from '../device/device.js';
import { encode } from '../keys/key-codec.js';
import { HistogramLab, type HistogramLabStep } from '../lab/histogram.js';
import { groupFor, timesOf, withBuffers } from './buffers.js';
import { type Access, costOf, firstOf, sideBySide } from './cost.js';
import { agree, type Grid, line, type Step } from './explanation.js';
import { histogramModel } from './histogram-model.js';
import { fromBytes, keyText, toBytes } from './keys.js';
import { binary, type Subject, windowOf } from './record.js';
import type { View } from './view.js';

const MAX_ITEMS = 32;
const KEYS_PER_ITEM = 4;
/** Maximum number of table columns and rows shown. */
const MAX_SHOWN = 32;
/** Low bits of a tagged counter, which hold the count; the tag is above them. */
const COUNT_MASK = 2 ** 27 - 1;
const ROW = 32;
const ROW_BINS = 256;

const NOTES: Readonly<Partial<Record<HistogramLabStep, string>>> = {
  global: 'Every key is an atomic on a counter in global memory: keys of one bin wait for each other.',
  private_items:
    'A byte for each work-item and bin, those of a work-item together: neighbours that count lie 64 bytes apart.',
  private_bins:
    'A byte for each work-item and bin, those of a bin together: neighbours that count the same bin share a word.',
  permuted: 'As by bin, with neighbours four bytes apart: each has a bank of its own, whatever it counts.',
  tagged:
    'Rows of 32 share counters without atomics: who wrote last finds its tag and is done, the others try again.',
  waves: 'Rows of 32 work-items share counters in local memory, by atomics.',
};

async function run(
  device: Device,
  lab: HistogramLab,
  plain: HistogramLab,
  { patterns, info, bits }: Subject,
) {
  const n = patterns.length;
  const bins = 2 ** (bits[1] - bits[0]);
  const groups = lab.groups(n);
  const traceBytes = groups * lab.counters.length * lab.counters.bytes;
  const sizes = [n * info.bytes, groups * bins * 4, bins * 4, traceBytes] as const;
  return withBuffers(device, sizes, async ([keys, partials, counts, trace]) => {
    const { queue } = device;
    queue.write(keys, toBytes(patterns, info.bytes));
    const read = {
      partials: new Uint8Array(groups * bins * 4),
      counts: new Uint8Array(bins * 4),
      counters: new Uint8Array(traceBytes),
      merged: new Uint8Array(bins * 4),
    };
    const work = { keys, n, bits, partials, counts };
    lab.enqueue(queue, { ...work, trace });
    queue.read(counts, read.counts);
    if (lab.step !== 'global') {
      queue.read(partials, read.partials);
      queue.read(trace, read.counters);
    }
    await queue.finish();
    const times = await timesOf(device, () => plain.enqueue(queue, { ...work, merge: 'parallel' }));
    queue.read(counts, read.merged);
    await queue.finish();
    const seconds = lab.step === 'global' ? times.slice(-1) : times;
    return { ...read, groups, seconds };
  });
}

export const explainHistogram: View = async (device, subject, { step: named = 'private_bins' }) => {
  const step = named as HistogramLabStep;
  const { patterns, info, codec, bits } = subject;
  const n = patterns.length;
  const bins = 2 ** (bits[1] - bits[0]);
  const groupSize = groupFor(Math.ceil(n / 2), 4, MAX_ITEMS);
  const made = { dtype: info.name, step, keysPerItem: KEYS_PER_ITEM };
  const lab = await HistogramLab.create(device, { ...made, lab: { groupSize, trace: step !== 'global' } });
  const plain = await HistogramLab.create(device, { ...made, lab: { groupSize } });
  const codes = patterns.map((pattern) => encode(codec, pattern));
  const digits = codes.map((code) => Number(windowOf(code, bits)));
  const ran = await run(device, lab, plain, subject);
  const model = histogramModel(digits, bins, lab, ran.groups);
  const words = (bytes: Uint8Array): number[] => fromBytes(bytes, 4).map(Number);
  const counts = agree('counts', words(ran.counts), model.counts);
  agree('counts of the parallel merge', words(ran.merged), model.counts);
  const keys = patterns.map((pattern) => keyText(pattern, info.name));
  const lines = [
    line('keys', keys),
    line(
      'binary',
      codes.map((code) => binary(code, [0, bits[1]])),
    ),
    line('bin', digits),
  ];
  const items = ran.groups * lab.groupSize;
  const countTitle = step === 'global' ? 'histogram_global' : `counters, ${step}`;
  const grids = step === 'global' ? [] : countersOf(lab, ran.counters, model.counters, bins);
  const steps: Step[] = [
    {
      ...{
        title: `${countTitle}: count`,
        note: NOTES[step] ?? '',
        kernels: [kernelOf(step)],
        newIndex: [],
        grids,
      },
      lines: [...lines, ...(step === 'global' ? [line('counts', counts)] : [])],
      before: keys,
      after: digits.map(String),
      flow: keys.map((_, i) => [i, i] as const),
      cost: costOf({
        active: firstOf(n, items),
        ...(step !== 'global' && {
          local: { accesses: roundsOf(lab, digits, ran.groups), bytes: lab.counters.bytes },
        }),
        global: [
          { access: sideBySide(n, Math.max(n, items)), bytes: info.bytes },
          ...(step === 'global' ? [{ access: digits, bytes: 4 }] : []),
        ],
        kernelSeconds: ran.seconds[0] ?? null,
      }),
      source: {
        file: step === 'global' ? 'histogram.cl' : 'histogram_lab.cl',
        name: kernelOf(step),
        containing: ['counters[LAB_COUNTER(item, bin)]++', 'atomic_inc', 'row[bin]'],
      },
    },
  ];
  if (step !== 'global') {
    const partials = agree('histograms of groups', words(ran.partials), model.partials.flat());
    const perGroup = model.partials.map((_, group) => partials.slice(group * bins, (group + 1) * bins));
    steps.push({
      ...{
        title: 'merge: the histograms of groups',
        kernels: ['histogram_merge', 'histogram_merge_parallel'],
        newIndex: [],
      },
      note: 'A work-item for each bin adds up what the groups have, one after the other; or a group for each bin does, in a tree. Both are run.',
      lines: [
        line('bin', [...counts.keys()]),
        ...perGroup.slice(0, MAX_SHOWN).map((own, group) => line(`group ${group}`, own)),
        line('counts', counts),
      ],
      before: partials.map(String),
      after: counts.map(String),
      flow: partials.map((_, i) => [i, i % bins] as const),
      cost: costOf({
        active: firstOf(bins, Math.ceil(bins / lab.groupSize) * lab.groupSize),
        global: [
          ...perGroup.map((_, group): Access => Array.from({ length: bins }, (_, bin) => group * bins + bin)),
          sideBySide(bins),
        ].map((access) => ({ access, bytes: 4 })),
        kernelSeconds: ran.seconds[1] ?? null,
      }),
      source: { file: 'histogram_lab.cl', name: 'histogram_merge', containing: ['partials['] },
    });
  }
  return { steps, result: counts.map(String) };
};

const kernelOf = (step: HistogramLabStep): string =>
  step === 'global'
    ? 'histogram_global'
    : step === 'tagged'
      ? 'histogram_tagged'
      : step === 'waves'
        ? 'histogram_rows'
        : 'histogram_layout';

/** Returns the counters that the work-items of the first group access in each round. */
function roundsOf(lab: HistogramLab, digits: readonly number[], groups: number): Access[] {
  const stride = groups * lab.groupSize;
  return Array.from({ length: Math.ceil(digits.length / stride) }, (_, round) =>
    Array.from({ length: lab.groupSize }, (_, item) => {
      const bin = digits[round * stride + item];
      return bin === undefined ? undefined : lab.counterOf(item, bin);
    }),
  );
}

/** Returns tables of the counters of the first two groups, after checking all counters. */
function countersOf(
  lab: HistogramLab,
  bytes: Uint8Array,
  model: readonly (readonly number[])[],
  bins: number,
): Grid[] {
  const { length, bytes: wordBytes } = lab.counters;
  const read = wordBytes === 1 ? [...bytes] : fromBytes(bytes, 4).map(Number);
  const values = lab.step === 'tagged' ? read.map((word) => word & COUNT_MASK) : read;
  agree('counters', values, model.flat());
  const visible = Array.from({ length: Math.min(bins, MAX_SHOWN) }, (_, bin) => bin);
  return model.slice(0, 2).map((_, group): Grid => {
    const own = values.slice(group * length, (group + 1) * length);
    if (wordBytes === 1) {
      return {
        name: `counters of group ${group}`,
        columns: Array.from({ length: lab.groupSize }, (_, item) => `item ${item}`),
        rows: visible.map((bin) =>
          line(
            `bin ${bin}`,
            Array.from({ length: lab.groupSize }, (_, item) => own[lab.counterOf(item, bin)] ?? 0),
          ),
        ),
      };
    }
    const rows = Math.ceil(lab.groupSize / ROW);
    return {
      name: `counters of group ${group}`,
      columns: visible.map((bin) => `bin ${bin}`),
      rows: Array.from({ length: rows }, (_, row) =>
        line(
          `row ${row}`,
          visible.map((bin) => own[row * ROW_BINS + bin] ?? 0),
        ),
      ),
    };
  });
}
