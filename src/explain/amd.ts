/**
 * Explains the AMD-style pipeline kernel by kernel: tables of blocks and bins, and the scan chains of 3 and 5 kernels.
 */
import { BLOCK, RADIX, RUN } from '../algorithms/amd-geometry.js';
import { amdRadix } from '../algorithms/amd-radix.js';
import { type AmdPassModel, amdPassModel } from '../algorithms/amd-radix-model.js';
import { type Access, costOf, firstOf, sideBySide } from './cost.js';
import { checkMove, digitBits, digitTitle } from './digits.js';
import { agree, type Grid, line, type Step } from './explanation.js';
import {
  binary,
  newIndexOf,
  type Recording,
  record,
  type Subject,
  startOf,
  texts,
  windowOf,
} from './record.js';
import type { View } from './view.js';

/** Maximum number of table rows shown. */
const MAX_ROWS = 16;
const RADIX_BITS = 8;
/** Bins per work-item of the additions, and bins per work-group of the scan over blocks. */
const BINS_PER_ITEM = 4;
const SCAN_BINS = 16;

const NOTES: Readonly<Record<string, string>> = {
  histogram: 'Each group counts the digits of one block of 256 keys in local memory.',
  ScanArraysdim2:
    'For each bin an exclusive scan over the 64 blocks of a run; the total of each run goes to sumBuffer.',
  prefixSum: 'For each bin an exclusive scan of its runs; what is in the bin altogether goes to binTotals.',
  blockAddition: 'Every block of a run gets what the runs before it have.',
  ScanArraysdim1: 'An exclusive scan over the bins: where each digit begins.',
  fixOffset:
    'Every block gets where its digits begin: now each entry is the place of its first key of that digit.',
  permute:
    'Each work-item walks its stretch of a block and puts each key at the place of its digit, which goes up by one.',
};
const MARKS: Readonly<Record<string, readonly string[]>> = {
  histogram: ['atomic_inc', 'buckets['],
  ScanArraysdim2: ['before', 'scannedBuckets[', 'sumBuffer['],
  prefixSum: ['row[', 'prefix', 'binTotals['],
  blockAddition: ['prefix', '+='],
  ScanArraysdim1: ['prefix', 'totals['],
  fixOffset: ['+='],
  permute: ['running[', 'bases[', 'store_code'],
};

/** One kernel of a pass: the buffers it wrote, and the values that the model expects in them. */
interface Kernel {
  readonly name: string;
  readonly wrote: readonly (readonly [
    buffer: string,
    values: Uint32Array,
    rows: 'blocks' | 'runs' | 'bins',
  ])[];
}

function chainOf({ geometry: { scan }, ...model }: AmdPassModel): Kernel[] {
  const long: Kernel[] = [
    {
      name: 'prefixSum',
      wrote: [
        ['sumBuffer', model.runPrefixes, 'runs'],
        ['binTotals', model.binTotals, 'bins'],
      ],
    },
    { name: 'blockAddition', wrote: [['scannedBuckets', model.scannedInBins, 'blocks']] },
  ];
  return [
    { name: 'histogram', wrote: [['buckets', model.buckets, 'blocks']] },
    {
      name: 'ScanArraysdim2',
      wrote: [
        ['scannedBuckets', model.scannedInRuns, 'blocks'],
        ['sumBuffer', model.runTotals, 'runs'],
      ],
    },
    ...(scan === 5 ? long : []),
    { name: 'ScanArraysdim1', wrote: [['binTotals', model.binBases, 'bins']] },
    { name: 'fixOffset', wrote: [['scannedBuckets', model.scannedBuckets, 'blocks']] },
  ];
}

function gridOf(
  buffer: string,
  values: readonly number[],
  rows: Kernel['wrote'][number][2],
  bins: readonly number[],
  keyBlocks: number,
  runs: number,
): Grid {
  const at = (row: number, bin: number): number =>
    (rows === 'blocks'
      ? values[row * RADIX + bin]
      : rows === 'runs'
        ? values[bin * runs + row]
        : values[bin]) ?? 0;
  const count = rows === 'blocks' ? keyBlocks : rows === 'runs' ? runs : 1;
  return {
    name: buffer,
    columns: bins.map((bin) => `bin ${bin}`),
    rows: Array.from({ length: Math.min(count, MAX_ROWS) }, (_, row) =>
      line(
        rows === 'bins' ? 'all' : `${rows === 'blocks' ? 'block' : 'run'} ${row}`,
        bins.map((bin) => at(row, bin)),
      ),
    ),
  };
}

/** Returns the cost of a kernel: its active work-items and its memory accesses. */
function costOfKernel(
  name: string,
  { geometry: { blocks, runs }, places }: AmdPassModel,
  n: number,
  bytes: number,
  kernelSeconds: number | null,
) {
  const table = blocks * RADIX;
  const full = (count: number): Access => sideBySide(count);
  const words = (count: number, times = 1) =>
    Array.from({ length: times }, () => ({ access: full(count), bytes: 4 }));
  const all = (count: number) => firstOf(count, count);
  // Neighbours scan neighbouring blocks of a bin; its row in local memory is padded to 65 words.
  const scanned = Array.from({ length: RUN }, (_, block) => block);
  const perKernel: Readonly<Record<string, Parameters<typeof costOf>[0]>> = {
    histogram: {
      active: firstOf(n, blocks * BLOCK),
      global: [{ access: sideBySide(n), bytes }, ...words(table)],
    },
    ScanArraysdim2: {
      active: all((table / RUN) * Math.min(RUN, SCAN_BINS * BINS_PER_ITEM)),
      local: { accesses: [scanned, scanned.map((block) => (block > 0 ? block - 1 : undefined))], bytes: 4 },
      global: words(table, 2),
    },
    prefixSum: { active: firstOf(RADIX * runs, RADIX * Math.max(runs, RUN)), global: words(RADIX * runs, 2) },
    blockAddition: { active: all(table / BINS_PER_ITEM), global: words(table, 2) },
    ScanArraysdim1: { active: all(RADIX), global: words(RADIX, 2) },
    fixOffset: { active: all(table / BINS_PER_ITEM), global: words(table, 2) },
    permute: {
      active: firstOf(n, blocks * BLOCK),
      global: [
        { access: sideBySide(n), bytes },
        { access: [...places.subarray(0, n)], bytes },
        ...words(table),
      ],
    },
  };
  return costOf({ active: [], ...perKernel[name], kernelSeconds });
}

export const explainAmd: View = async (device, subject, { scan }) => {
  const recording = await record(device, amdRadix, subject, scan === undefined ? {} : { scan });
  let before = startOf(subject);
  const steps = Array.from({ length: recording.passes }, (_, pass): Step[] => {
    const [stepsOfPass, after] = explainPass(recording, subject, { pass, before, scan });
    before = after;
    return stepsOfPass;
  });
  return { steps: steps.flat() };
};

interface Pass {
  readonly pass: number;
  readonly before: { codes: bigint[]; ids: number[] };
  readonly scan: 3 | 5 | undefined;
}

function explainPass(
  recording: Recording,
  subject: Subject,
  { pass, before, scan }: Pass,
): [Step[], Pass['before']] {
  const bits = digitBits(subject, pass, RADIX_BITS);
  const digits = before.codes.map((code) => Number(windowOf(code, bits)));
  const n = digits.length;
  const padDigit = 2 ** (bits[1] - bits[0]) - 1;
  const model = amdPassModel(digits, padDigit, scan ?? 'auto');
  const { blocks, runs } = model.geometry;
  const bins = [...new Set([...digits, padDigit])].toSorted((a, b) => a - b);
  const from = texts(before.codes, subject);
  const stays = from.map((_, i) => i);
  const digitLines = [
    line('keys', from),
    line(
      'binary',
      before.codes.map((code) => binary(code, subject.bits)),
    ),
    line('digit', digits),
  ];
  const common = { before: from, after: from, newIndex: stays };
  const source = (name: string) => ({ file: 'amd_radix.cl', name, containing: MARKS[name] ?? [] });
  const cost = (name: string) =>
    costOfKernel(name, model, n, subject.info.bytes, recording.seconds(pass, name));
  const steps = chainOf(model).map(({ name, wrote }): Step => {
    const grids = wrote.map(([buffer, expected, rows]) => {
      const read = recording.words(pass, name, buffer).slice(0, expected.length);
      const values = agree(`${buffer} after ${name}`, read, [...expected]);
      return gridOf(buffer, values, rows, bins, Math.ceil(n / BLOCK), runs);
    });
    const pads = `bin (of 256; ${blocks * BLOCK - n} pads count as ${padDigit})`;
    return {
      ...{ title: `${digitTitle(pass, bits)}: ${name}`, note: NOTES[name] ?? '', kernels: [name], grids },
      lines: [
        ...(name === 'histogram' ? digitLines : []),
        line(pads, bins),
        ...grids.flatMap((grid) => grid.rows.map((row) => ({ ...row, name: `${grid.name}[${row.name}]` }))),
      ],
      ...common,
      cost: cost(name),
      source: source(name),
    };
  });
  const places = [...model.places.subarray(0, n)];
  const after = checkMove(recording, { pass, kernel: 'permute', places }, before);
  const newIndex = agree('new index', newIndexOf(before.ids, after.ids), places);
  const to = texts(after.codes, subject);
  steps.push({
    ...{ title: `${digitTitle(pass, bits)}: permute`, note: NOTES.permute ?? '', kernels: ['permute'] },
    lines: [
      line('keys', from),
      line('digit', digits),
      line('new index', newIndex),
      line('permute: keys', to),
    ],
    ...{ before: from, after: to, newIndex: [...newIndex] },
    cost: cost('permute'),
    source: source('permute'),
  });
  return [steps, after];
}
