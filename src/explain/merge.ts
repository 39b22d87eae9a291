/** Explains merge sort pass by pass. The tiles are small, so that few keys show all three regimes. */
import { merge } from '../algorithms/merge.js';
import { type Access, costOf, firstOf, sideBySide } from './cost.js';
import { agree, line, type Step } from './explanation.js';
import { fromBytes } from './keys.js';
import { mergeModel, type Regime, regimeOf, splitsModel } from './merge-model.js';
import { afterMove, newIndexOf, record, startOf, texts, windowOf } from './record.js';
import type { View } from './view.js';

const SHORT = 2;
const TILE = 16;

/** Separates runs with bars. */
const withBars = (keys: readonly string[], width: number): string[] =>
  keys.flatMap((key, i) => (i > 0 && i % width === 0 ? ['|', key] : [key]));

const WAYS: Readonly<Record<Regime, { kernels: string[]; note: string; containing: string[] }>> = {
  pairs: {
    kernels: ['merge_pairs'],
    note: 'Short runs: one work-item merges a pair, key by key.',
    containing: ['left', 'store_code'],
  },
  local: {
    kernels: ['merge_local'],
    note: 'Middle runs: a group holds its pairs in local memory; each key finds its rank in the other run by binary search.',
    containing: ['rank'],
  },
  split: {
    kernels: ['merge_split', 'merge_tiles'],
    note: 'Long runs: splitters say how many keys of the left run stand before each tile of the output; a group merges a tile.',
    containing: ['splits[', 'rank'],
  },
};

export const explainMerge: View = async (device, subject) => {
  const recording = await record(device, merge, subject, { tile: TILE, short: SHORT });
  const n = subject.patterns.length;
  const { bytes } = subject.info;
  let before = startOf(subject);
  const steps = Array.from({ length: recording.passes }, (_, pass): Step => {
    const width = 2 ** pass;
    const keys = before.codes.map((code) => windowOf(code, subject.bits));
    const model = mergeModel(keys, width);
    const regime = regimeOf(width, SHORT, TILE);
    const { kernels, note, containing } = WAYS[regime];
    const writes = kernels.at(-1) ?? '';
    const after = recording.after(pass, writes);
    agree(`keys of merge ${pass}`, after.codes, afterMove(before.codes, model.places));
    agree(`positions of merge ${pass}`, after.ids, afterMove(before.ids, model.places));
    const newIndex = newIndexOf(before.ids, after.ids);
    const [from, to] = [texts(before.codes, subject), texts(after.codes, subject)];
    const lines = [line('runs', withBars(from, width)), line('rank in the other run', model.ranks)];
    if (regime === 'split') {
      const stage = recording.stages.find((one) => one.pass === pass && one.kernel === 'merge_split');
      const read = fromBytes(stage?.data.splits ?? new Uint8Array(), 8).map(Number);
      lines.push(line('splitters', agree('splitters', read, splitsModel(model.places, width, TILE))));
    }
    lines.push(line('new index', newIndex), line('merged', withBars(to, 2 * width)));
    const byItem = regime === 'pairs';
    const items = byItem ? Math.ceil(n / (2 * width)) : Math.ceil(n / TILE) * TILE;
    // A work-item that merges a pair reads at the beginning of its pair, so neighbours read 2 · width keys apart.
    const reads: Access = byItem
      ? Array.from({ length: items }, (_, pair) => pair * 2 * width)
      : sideBySide(n, items);
    const writesTo: Access = byItem ? reads : model.places;
    const searches: Access = Array.from({ length: TILE }, (_, i) => {
      const base = i - (i % (2 * width));
      const other = i - base < width ? base + width : base;
      return other < Math.min(n, TILE) ? other + Math.floor(width / 2) : undefined;
    });
    const cost = costOf({
      active: firstOf(byItem ? items : n, items),
      ...(regime === 'local' && { local: { accesses: [sideBySide(TILE), searches], bytes } }),
      global: [reads, writesTo].map((access) => ({ access, bytes })),
      kernelSeconds: recording.seconds(pass),
    });
    before = after;
    const title = `pass ${pass}: runs of ${width} become runs of ${2 * width}`;
    const source = { file: 'merge.cl', name: writes, containing };
    return { title, note, kernels, lines, before: from, after: to, newIndex, cost, source };
  });
  return { steps };
};
