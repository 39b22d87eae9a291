/** Explains the reduce ladder level by level: additions, idle work-items and cost. */
import type { Device } from '../device/device.js';
import { PARTIALS_PER_ITEM, type ReduceStep, Reduction, SUBGROUPS } from '../lab/reduce.js';
import { type Arithmetic, reduceArithmetic, type Sum } from './arithmetic.js';
import { groupFor, timesOf, withBuffers } from './buffers.js';
import { type Access, costOf } from './cost.js';
import { agree, line, type Step } from './explanation.js';
import { keyText, toBytes } from './keys.js';
import { additionsOf, gridLoads, type LaunchModel, launchModel, loadsOf } from './reduce-model.js';
import type { View } from './view.js';

/** Largest work-group shown; also the group size of the sub-group step. */
const MAX_ITEMS = 64;

const NOTES: Readonly<Record<ReduceStep, string>> = {
  interleaved:
    'Every second, fourth, eighth ... work-item adds its neighbour: the others of its row wait, and each row runs to the last level.',
  compacted:
    'The same sums by the first work-items: whole rows are done early, but they reach words that lie in few banks.',
  halving:
    'Distances halve: neighbours read neighbouring words, in banks of their own, and whole rows are done early.',
  two_loads:
    'Each work-item adds two keys while it loads them, so that none is idle from the start: half the groups.',
  unrolled:
    'As with two loads, and the loop is written out; every level keeps its barrier, since nothing runs in lock step.',
  grid: 'As many groups as fill the device walk over all keys, four at a time; only one value a work-item is left for the tree.',
  subgroups: 'A sub-group adds up by itself, without a barrier; the first one adds up what the others left.',
};

const KEYS_PER_LOAD: Readonly<Partial<Record<ReduceStep, number>>> = {
  two_loads: 2,
  unrolled: 2,
  subgroups: 2,
};

function modelsOf(
  values: readonly Sum[],
  step: ReduceStep,
  launches: readonly number[],
  { groupSize, arithmetic }: { groupSize: number; arithmetic: Arithmetic },
): LaunchModel[] {
  const [groups = 1, ...above] = launches;
  const all = groups * groupSize;
  const isGrid = step === 'grid';
  const loads = isGrid ? gridLoads(values.length, all) : loadsOf(groups, groupSize, KEYS_PER_LOAD[step] ?? 1);
  const first = launchModel(values, loads, additionsOf(step, groupSize), {
    ...{ groupSize, arithmetic, fold: isGrid ? 'kahan' : 'plain' },
  });
  const models = [first];
  for (const count of above) {
    const partial = models.at(-1)?.results ?? [];
    const next = loadsOf(count, groupSize, PARTIALS_PER_ITEM);
    models.push(
      launchModel(partial, next, additionsOf('halving', groupSize), { groupSize, arithmetic, fold: 'sum' }),
    );
  }
  return models;
}

/** Runs the reduction with a trace, and again without one for its times. */
async function run(
  device: Device,
  reduction: Reduction,
  plain: Reduction,
  n: number,
  keys: Uint8Array,
  step: ReduceStep,
  rows: readonly number[],
  sumBytes: number,
) {
  const launches = reduction.launches(n, step);
  const sizes = launches.map((groups, i) => groups * reduction.groupSize * (rows[i] ?? 0) * sumBytes);
  const partial = reduction.partialBytes(n, step);
  return withBuffers(device, [keys.length, partial, partial, ...sizes], async ([input, a, b, ...traces]) => {
    const { queue } = device;
    queue.write(input, keys);
    const traced = reduction.enqueue(queue, { keys: input, n, partials: [a, b], traces }, step);
    const result = new Uint8Array(8);
    queue.read(traced, result);
    const read = sizes.map((bytes) => new Uint8Array(bytes));
    for (const [i, trace] of traces.entries()) queue.read(trace, read[i] as Uint8Array);
    await queue.finish();
    const again = new Uint8Array(8);
    const seconds = await timesOf(device, () => {
      plain.enqueue(queue, { keys: input, n, partials: [a, b] }, step);
    });
    queue.read(plain.enqueue(queue, { keys: input, n, partials: [a, b] }, step), again);
    await queue.finish();
    return { launches, traces: read, result, again, seconds };
  });
}

export const explainReduce: View = async (device, { patterns, info }, { step: named = 'halving', op }) => {
  const step = named as ReduceStep;
  const n = patterns.length;
  const subGroups = step === SUBGROUPS;
  const groupSize = subGroups ? MAX_ITEMS : groupFor(Math.ceil(n / (KEYS_PER_LOAD[step] ?? 1)), 4, MAX_ITEMS);
  const made = { dtype: info.name, op, subGroups };
  const reduction = await Reduction.create(device, { ...made, lab: { groupSize, trace: true } });
  const plain = await Reduction.create(device, { ...made, lab: { groupSize } });
  const { groupSize: G } = reduction;
  const arithmetic = reduceArithmetic(reduction.codec, op);
  const values = patterns.map((pattern) => arithmetic.of(pattern));
  const levels = 1 + Math.log2(G);
  const launchCount = reduction.launches(n, step).length;
  const rows = Array.from({ length: launchCount }, (_, i) => (subGroups && i === 0 ? 1 : levels));
  const ran = await run(
    device,
    reduction,
    plain,
    n,
    toBytes(patterns, info.bytes),
    step,
    rows,
    arithmetic.bytes,
  );
  const models = modelsOf(values, step, ran.launches, { groupSize: G, arithmetic });
  const inTexts = patterns.map((pattern) => keyText(pattern, info.name));
  const steps: Step[] = [];
  let before = inTexts;
  for (const [launch, model] of models.entries()) {
    const isFirst = launch === 0;
    const kernel = isFirst ? `reduce_${step}` : 'reduce_partials';
    const file = isFirst && subGroups ? 'reduce_lab.cl' : 'reduce.cl';
    const all = model.loads.length;
    const read = arithmetic.read(ran.traces[launch] as Uint8Array);
    const row = (level: number): Sum[] => read.slice(level * all, (level + 1) * all);
    const seconds = ran.seconds[launch] ?? null;
    const title = isFirst ? kernel : `${kernel}, launch ${launch}`;
    const common = { kernels: [kernel], newIndex: [] };
    if (isFirst && subGroups) {
      steps.push(bySubGroups(reduction, model, arithmetic, row(0), before, seconds));
      before = model.results.map(arithmetic.text);
      continue;
    }
    const loaded = agree(`${kernel}: loads`, row(0), model.rows[0] ?? []).map(arithmetic.text);
    const unit = isFirst ? info.bytes : arithmetic.bytes;
    const count = before.length;
    const access = (k: number): Access =>
      model.loads.map((own) => ((own[k] ?? count) < count ? own[k] : undefined));
    const deepest = model.loads.reduce((maxDepth, own) => Math.max(maxDepth, own.length), 0);
    steps.push({
      ...{
        title: `${title}: loads`,
        note: isFirst ? NOTES[step] : 'The partial results of groups are reduced in turn.',
      },
      lines: [line(isFirst ? 'keys' : 'partial results', before), line('sums', loaded, G)],
      ...{ before, after: loaded, ...common },
      flow: model.loads.flatMap((own, to) => own.filter((i) => i < count).map((i) => [i, to] as const)),
      cost: costOf({
        active: model.loads.map((own) => own.some((i) => i < count)),
        local: { accesses: [Array.from({ length: G }, (_, i) => i)], bytes: arithmetic.bytes },
        global: Array.from({ length: deepest }, (_, k) => ({ access: access(k), bytes: unit })),
        kernelSeconds: model.additions.length === 0 ? seconds : null,
      }),
      source: {
        file,
        name: isFirst ? kernel : 'reduce_partials',
        containing: ['load(', 'keys[', 'partials[i]'],
      },
    });
    let last = loaded;
    for (const [level, additions] of model.additions.entries()) {
      const after = agree(`${kernel}: level ${level}`, row(level + 1), model.rows[level + 1] ?? []).map(
        arithmetic.text,
      );
      const works = new Set(additions.map(({ item }) => item));
      const active = Array.from({ length: all }, (_, at) => works.has(at % G));
      const groups = Array.from({ length: all / G }, (_, group) => group * G);
      const byItem = (place: 'into' | 'from'): Access => {
        const own = new Map(additions.map((one) => [one.item, one[place]]));
        return Array.from({ length: G }, (_, item) => own.get(item));
      };
      const distance = Math.abs((additions[0]?.from ?? 0) - (additions[0]?.into ?? 0));
      const isLast = level === model.additions.length - 1;
      const isTree = isFirst && (step === 'interleaved' || step === 'compacted');
      steps.push({
        title: `${title}: distance ${distance}`,
        ...common,
        lines: [
          line('sums', last, G),
          line(
            'active',
            active.map((one) => (one ? 'x' : '-')),
            G,
          ),
          line('sums after', after, G),
          ...(isLast
            ? [
                line(
                  'results of groups',
                  groups.map((at) => after[at] ?? ''),
                ),
              ]
            : []),
        ],
        before: last,
        after,
        flow: groups.flatMap((base) =>
          additions.flatMap(({ into, from }) => [
            [base + into, base + into] as const,
            [base + from, base + into] as const,
          ]),
        ),
        cost: costOf({
          active,
          local: { accesses: [byItem('into'), byItem('from')], bytes: arithmetic.bytes },
          kernelSeconds: isLast ? seconds : null,
        }),
        source: {
          file: 'reduce.cl',
          name: isTree || (isFirst && step === 'unrolled') ? kernel : 'reduce_group',
          containing: ['COMBINE(sums', 'LEVEL('],
        },
      });
      last = after;
    }
    before = model.results.map(arithmetic.text);
  }
  const [expected = arithmetic.identity] = models.at(-1)?.results ?? [];
  for (const [what, bytes] of Object.entries({ traced: ran.result, plain: ran.again })) {
    agree(`the result of the ${what} kernels`, arithmetic.read(bytes.subarray(0, arithmetic.bytes)), [
      expected,
    ]);
  }
  return { steps, result: [arithmetic.text(expected)] };
};

/**
 * Returns the single step of the sub-group reduction: each sub-group reduces its values, then the first one their
 * results.
 */
function bySubGroups(
  reduction: Reduction,
  model: LaunchModel,
  arithmetic: Arithmetic,
  traced: readonly Sum[],
  before: readonly string[],
  seconds: number | null,
): Step {
  const { groupSize: G, subGroupSize } = reduction;
  const width = Math.min(subGroupSize, G);
  const loaded = model.rows[0] ?? [];
  const groups = loaded.length / G;
  // The summation order of a sub-group is unspecified, which changes float results; only exact sums are compared.
  const sums = Array.from({ length: groups * (G / width) }, (_, sub) =>
    loaded.slice(sub * width, (sub + 1) * width).reduce((a, b) => arithmetic.combine(a, b)),
  );
  const left = sums.map((_, sub) => {
    const perGroup = G / width;
    return traced[Math.floor(sub / perGroup) * G + (sub % perGroup)] as Sum;
  });
  if (!arithmetic.rounds) agree('sums of sub-groups', left, sums);
  const texts = left.map(arithmetic.text);
  return {
    ...{ title: 'reduce_subgroups', note: NOTES.subgroups, kernels: ['reduce_subgroups'], newIndex: [] },
    lines: [
      line('keys', before),
      line('after two loads', loaded.map(arithmetic.text), width),
      line('sums of sub-groups', texts),
      line('results of groups', model.results.map(arithmetic.text)),
    ],
    ...{ before: loaded.map(arithmetic.text), after: texts },
    flow: loaded.map((_, i) => [i, Math.floor(i / width)] as const),
    cost: costOf({
      active: loaded.map(() => true),
      local: {
        accesses: [Array.from({ length: G }, (_, i) => (i % width === 0 ? i / width : undefined))],
        bytes: arithmetic.bytes,
      },
      kernelSeconds: seconds,
    }),
    source: { file: 'reduce_lab.cl', name: 'reduce_subgroups', containing: ['SUB_GROUP_TOTAL', 'barrier'] },
  };
}
