/** Split radix sort and the AMD-style pipeline, pass by pass. */
import { amdRadix } from '../algorithms/amd-radix.js';
import { amdPassModel } from '../algorithms/amd-radix-model.js';
import { splitRadix } from '../algorithms/split-radix.js';
import type { Device } from '../device/device.js';
import { agree, type Line, line, type Step } from './explanation.js';
import {
  binary,
  moved,
  newIndexOf,
  type Recording,
  record,
  type Subject,
  startOf,
  texts,
  windowOf,
} from './record.js';

/** The bits [low, high) of the code that a pass sorts on. */
function digitBits({ bits }: Subject, pass: number, radixBits: number): [number, number] {
  const low = bits[0] + pass * radixBits;
  return [low, Math.min(low + radixBits, bits[1])];
}

const digitTitle = (pass: number, [low, high]: readonly [number, number]): string =>
  `pass ${pass}: ${high - low === 1 ? `bit ${low}` : `bits ${low} to ${high - 1}`}`;

/** What one digit of the split must leave behind. */
export function splitPassModel(digits: readonly number[], bins: number) {
  const histogram = new Array<number>(bins).fill(0);
  const offsets = digits.map((digit) => {
    const met = histogram[digit] ?? 0;
    histogram[digit] = met + 1;
    return met;
  });
  const prefix = histogram.map((_, bin) => histogram.slice(0, bin).reduce((a, b) => a + b, 0));
  return {
    histogram,
    prefix,
    offsets,
    places: offsets.map((offset, i) => offset + (prefix[digits[i] ?? 0] ?? 0)),
  };
}

/** Checks the move of a pass against the model's places. */
function checkMove(
  recording: Recording,
  { pass, kernel, places }: { pass: number; kernel: string; places: readonly number[] },
  before: { codes: bigint[]; ids: number[] },
): { codes: bigint[]; ids: number[] } {
  const after = recording.after(pass, kernel);
  agree(`keys after pass ${pass}`, after.codes, moved(before.codes, places));
  agree(`positions after pass ${pass}`, after.ids, moved(before.ids, places));
  return after;
}

export async function explainSplit(device: Device, subject: Subject, radixBits = 1): Promise<Step[]> {
  const recording = await record(device, splitRadix, subject, { radixBits });
  const bins = 2 ** radixBits;
  let before = startOf(subject);
  return Array.from({ length: recording.passes }, (_, pass) => {
    const bits = digitBits(subject, pass, radixBits);
    const digits = before.codes.map((code) => Number(windowOf(code, bits)));
    const model = splitPassModel(digits, bins);
    const histogram = agree('histogram', recording.words(pass, 'split_scan', 'histogram'), model.histogram);
    const prefix = agree('prefix', recording.words(pass, 'split_scan', 'prefix'), model.prefix);
    const offsets = agree('offsets', recording.words(pass, 'split_offset', 'offsets'), model.offsets);
    const places = agree('new index', recording.words(pass, 'split_move', 'places'), model.places);
    const after = checkMove(recording, { pass, kernel: 'split_move', places }, before);
    const [from, to] = [texts(before.codes, subject), texts(after.codes, subject)];
    const lines = [
      line('keys', from),
      line(
        'binary',
        before.codes.map((code) => binary(code, subject.bits)),
      ),
      line(radixBits === 1 ? 'bit' : 'digit', digits),
      line('bin', [...histogram.keys()]),
      line('histogram', histogram),
      line('exclusive prefix sum', prefix),
      line('offset', offsets),
      line('new index', places),
      line('moved', to),
    ];
    const kernels = ['split_count', 'split_scan', 'split_offset', 'split_move'];
    before = after;
    return { title: digitTitle(pass, bits), kernels, lines, before: from, after: to, newIndex: places };
  });
}

export async function explainAmd(device: Device, subject: Subject): Promise<Step[]> {
  const recording = await record(device, amdRadix, subject, {});
  let before = startOf(subject);
  return Array.from({ length: recording.passes }, (_, pass) => {
    const bits = digitBits(subject, pass, 8);
    const digits = before.codes.map((code) => Number(windowOf(code, bits)));
    const padDigit = 2 ** (bits[1] - bits[0]) - 1;
    const model = amdPassModel(digits, padDigit);
    const { blocks, runs, scan } = model.geometry;
    const read = (kernel: string, buffer: string, expected: Uint32Array) =>
      agree(`${buffer} after ${kernel}`, recording.words(pass, kernel, buffer).slice(0, expected.length), [
        ...expected,
      ]);
    const bins = [...new Set([...digits, padDigit])].toSorted((a, b) => a - b);
    const blocksWithKeys = Array.from({ length: Math.ceil(digits.length / 256) }, (_, block) => block);
    const inBlocks = (name: string, table: readonly number[]): Line[] =>
      blocksWithKeys.map((block) =>
        line(
          `${name}[block ${block}]`,
          bins.map((bin) => table[block * 256 + bin] ?? 0),
        ),
      );
    const byRun = (name: string, sums: readonly number[]): Line[] =>
      Array.from({ length: runs }, (_, run) =>
        line(
          `${name}[run ${run}]`,
          bins.map((bin) => sums[bin * runs + run] ?? 0),
        ),
      );
    const byBin = (name: string, totals: readonly number[]): Line =>
      line(
        name,
        bins.map((bin) => totals[bin] ?? 0),
      );
    const from = texts(before.codes, subject);
    const lines: Line[] = [
      line('keys', from),
      line(
        'binary',
        before.codes.map((code) => binary(code, subject.bits)),
      ),
      line('digit', digits),
      line(`bin (of 256; ${blocks * 256 - digits.length} pads count as ${padDigit})`, bins),
      ...inBlocks('histogram: buckets', read('histogram', 'buckets', model.buckets)),
      ...inBlocks(
        'ScanArraysdim2: scannedBuckets',
        read('ScanArraysdim2', 'scannedBuckets', model.scannedInRuns),
      ),
      ...byRun('ScanArraysdim2: sumBuffer', read('ScanArraysdim2', 'sumBuffer', model.runTotals)),
    ];
    if (scan === 5) {
      const added = read('blockAddition', 'scannedBuckets', model.scannedInBins);
      lines.push(
        ...byRun('prefixSum: sumBuffer', read('prefixSum', 'sumBuffer', model.runPrefixes)),
        byBin('prefixSum: binTotals', read('prefixSum', 'binTotals', model.binTotals)),
        ...inBlocks('blockAddition: scannedBuckets', added),
      );
    }
    const fixed = read('fixOffset', 'scannedBuckets', model.scannedBuckets);
    lines.push(
      byBin('ScanArraysdim1: binTotals', read('ScanArraysdim1', 'binTotals', model.binBases)),
      ...inBlocks('fixOffset: scannedBuckets', fixed),
    );
    const places = [...model.places.subarray(0, digits.length)];
    const after = checkMove(recording, { pass, kernel: 'permute', places }, before);
    const newIndex = newIndexOf(before.ids, after.ids);
    const to = texts(after.codes, subject);
    lines.push(line('new index', newIndex), line('permute: keys', to));
    before = after;
    const kernels = recording.stages.filter((stage) => stage.pass === pass).map(({ kernel }) => kernel);
    return { title: digitTitle(pass, bits), kernels, lines, before: from, after: to, newIndex };
  });
}
