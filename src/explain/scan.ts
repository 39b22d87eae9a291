/**
 * Explains scans level by level: up-sweep and down-sweep trees, the form of Hillis and Steele, sums of tiles and their
 * distribution.
 */
import type { Device } from '../device/device.js';
import { Scan, type ScanStep } from '../lab/scan.js';
import { type Arithmetic, type Sum, scanArithmetic } from './arithmetic.js';
import { groupFor, timesOf, withBuffers } from './buffers.js';
import { type Access, costOf, firstOf, sideBySide } from './cost.js';
import { agree, line, type Step } from './explanation.js';
import { keyText, toBytes } from './keys.js';
import { rowWords, scanModel, type TileModel, tileModel } from './scan-model.js';
import type { View } from './view.js';

/** Largest work-group shown. */
const MAX_ITEMS = 32;

const NOTES: Readonly<Record<ScanStep, string>> = {
  sweep:
    'Sums go up a tree and prefixes down it: as many additions as values, but half the work-items rest after each level.',
  padded:
    'The same tree with a word of padding behind every 32: distances that are powers of two no longer meet in one bank.',
  tile: 'Each work-item adds up eight values by itself, and only those sums are scanned, as Hillis and Steele do it.',
  hillis_steele:
    'Every value adds the one a distance before it, and distances double: few levels, all work-items busy, n log n additions.',
  single_pass:
    'One launch: a group scans its tile and waits for the sum of all tiles before it, which the group before it hands on.',
};

/** Values of a tile per work-item. */
const VALUES: Readonly<Record<ScanStep, number>> = {
  sweep: 2,
  padded: 2,
  tile: 8,
  hillis_steele: 1,
  single_pass: 8,
};

async function run(
  device: Device,
  scan: Scan,
  plain: Scan,
  keys: Uint8Array,
  n: number,
  traceRows: number,
  words: number,
) {
  const { valueBytes } = scan;
  const tiles = scan.tiles(n);
  const sumBytes = scan.sumBytes(n);
  const traceBytes = traceRows === 0 ? [] : tiles.map((count) => count * words * traceRows * valueBytes);
  const all = [keys.length, keys.length, ...sumBytes, ...traceBytes] as const;
  return withBuffers(device, all, async ([input, output, ...others]) => {
    const { queue } = device;
    const [sums, traces] = [others.slice(0, sumBytes.length), others.slice(sumBytes.length)];
    queue.write(input, keys);
    scan.enqueue(queue, { input, output, n, sums, traces });
    const read = {
      out: new Uint8Array(keys.length),
      sums: sumBytes.map((bytes) => new Uint8Array(bytes)),
      traces: traceBytes.map((bytes) => new Uint8Array(bytes)),
      again: new Uint8Array(keys.length),
    };
    queue.read(output, read.out);
    for (const [i, buffer] of sums.entries()) queue.read(buffer, read.sums[i] as Uint8Array);
    for (const [i, buffer] of traces.entries()) queue.read(buffer, read.traces[i] as Uint8Array);
    await queue.finish();
    const seconds = await timesOf(device, () => plain.enqueue(queue, { input, output, n, sums }));
    queue.read(output, read.again);
    await queue.finish();
    return { ...read, seconds };
  });
}

export const explainScan: View = async (device, { patterns, info }, { step: named = 'sweep' }) => {
  const step = named as ScanStep;
  const n = patterns.length;
  // Small groups, so that few keys fill several of them.
  const groupSize = groupFor(
    Math.ceil(n / VALUES[step]),
    4,
    n <= 2 * MAX_ITEMS * VALUES[step] ? MAX_ITEMS / 2 : MAX_ITEMS,
  );
  const isTraced = step !== 'single_pass';
  const made = { dtype: info.name, step };
  const scan = await Scan.create(device, { ...made, lab: { groupSize, ...(isTraced && { trace: true }) } });
  const plain = await Scan.create(device, { ...made, lab: { groupSize } });
  const arithmetic = scanArithmetic(info);
  const values = patterns.map((pattern) => arithmetic.of(pattern));
  const how = { groupSize: scan.groupSize, tile: scan.tile, arithmetic };
  const words = rowWords(step, scan.groupSize);
  const rows = isTraced ? 1 + tileModel(values.slice(0, 1), step, how).levels.length : 0;
  const ran = await run(device, scan, plain, toBytes(patterns, info.bytes), n, rows, words);
  const texts = patterns.map((pattern) => keyText(pattern, info.name));
  if (!isTraced) return singlePass(values, texts, ran, how);
  const model = scanModel(values, step, how);
  const seen: ScanTrace = { step, words, arithmetic, how, texts };
  const steps: Step[] = [];
  const count = model.launches.length;
  let last: readonly Sum[] = values;
  for (const [depth, launch] of model.launches.entries()) {
    const seconds = ran.seconds[depth] ?? null;
    steps.push(
      ...tileSteps(seen, launch, {
        depth,
        input: last,
        read: arithmetic.read(ran.traces[depth] as Uint8Array),
        seconds,
      }),
    );
    last = launch.sums;
  }
  // Sums are distributed from the last level to the first.
  for (let depth = count - 2; depth >= 0; depth--) {
    const result = model.results[depth] ?? [];
    const above = model.results[depth + 1] ?? [];
    const sums = arithmetic.read(ran.sums[depth] as Uint8Array);
    agree(`scanned sums of level ${depth}`, sums, above);
    const out = depth === 0 ? agree('prefix sums', arithmetic.read(ran.out), result) : result;
    steps.push(
      distribution(seen, model.launches[depth] as TileModel, {
        depth,
        sums,
        out,
        seconds: ran.seconds[2 * count - 2 - depth] ?? null,
      }),
    );
  }
  const result = agree('prefix sums', arithmetic.read(ran.out), model.results[0] ?? []);
  agree('prefix sums without a trace', arithmetic.read(ran.again), model.results[0] ?? []);
  return { steps, result: result.map(arithmetic.text) };
};

/** Context of all steps of a scan. */
interface ScanTrace {
  readonly step: ScanStep;
  readonly words: number;
  readonly arithmetic: Arithmetic;
  readonly how: { readonly groupSize: number; readonly tile: number };
  readonly texts: readonly string[];
}

interface Launch {
  readonly depth: number;
  readonly input: readonly Sum[];
  readonly read: readonly Sum[];
  readonly seconds: number | null;
}

function tileSteps(
  { step, words, arithmetic, how, texts }: ScanTrace,
  launch: TileModel,
  { depth, input, read, seconds }: Launch,
): Step[] {
  const kernel = `scan_${step}`;
  const file = step === 'hillis_steele' ? 'scan_lab.cl' : 'scan.cl';
  const isSweep = step === 'sweep' || step === 'padded';
  const source = (containing: string[]) => ({ file, name: isSweep ? 'SWEEP_BODY' : kernel, containing });
  const all = launch.rows[0]?.length ?? 0;
  const { groupSize: G, tile } = how;
  const groups = all / words;
  const of = depth === 0 ? kernel : `${kernel} on the sums of level ${depth - 1}`;
  const row = (level: number): readonly Sum[] =>
    agree(`${of}: level ${level}`, read.slice(level * all, (level + 1) * all), launch.rows[level] ?? []);
  const before = depth === 0 ? texts : input.map(arithmetic.text);
  const loaded = row(0).map(arithmetic.text);
  const { bytes } = arithmetic;
  const perWord = tile / words;
  const steps: Step[] = [
    {
      ...{ title: `${of}: loads`, kernels: [kernel], newIndex: [] },
      note: depth === 0 ? NOTES[step] : 'The sums of tiles are scanned in the same way.',
      lines: [line(depth === 0 ? 'keys' : 'sums of tiles', before), line('in local memory', loaded, words)],
      ...{ before, after: loaded },
      flow: before.map((_, i) => [i, Math.floor(i / perWord)] as const),
      cost: costOf({
        active: Array.from({ length: groups * G }, (_, i) => i * (tile / G) < before.length),
        global: [{ access: sideBySide(before.length), bytes }],
      }),
      source: source(['in[']),
    },
  ];
  let last = loaded;
  for (const [level, { title, moves }] of launch.levels.entries()) {
    const after = row(level + 1).map(arithmetic.text);
    const works = new Set(moves.length > 0 ? moves.map(({ item }) => item) : [0]);
    const access = (place: 'into' | 'from'): Access => {
      const own = new Map(moves.map((move) => [move.item, move[place]]));
      return Array.from({ length: G }, (_, item) => own.get(item));
    };
    const bases = Array.from({ length: groups }, (_, group) => group * words);
    const isLast = level === launch.levels.length - 1;
    steps.push({
      ...{ title: `${of}: ${title}`, kernels: [kernel], newIndex: [] },
      lines: [
        line('before', last, words),
        line('after', after, words),
        ...(isLast ? [line('sums of tiles', launch.sums.map(arithmetic.text))] : []),
      ],
      ...{ before: last, after },
      flow: bases.flatMap((base) =>
        moves.flatMap(({ into, from, swap }): (readonly [number, number])[] => [
          [base + into, base + into],
          [base + from, base + into],
          ...(swap ? [[base + into, base + from] as const] : []),
        ]),
      ),
      cost: costOf({
        active: Array.from({ length: groups * G }, (_, i) => works.has(i % G)),
        local: { accesses: [access('into'), access('from')], bytes },
        kernelSeconds: isLast ? seconds : null,
      }),
      source: source(isSweep ? ['tree[AT(right)]', 'tree[AT(left)]'] : ['distance', 'before']),
    });
    last = after;
  }
  return steps;
}

function distribution(
  { arithmetic, how: { tile } }: ScanTrace,
  launch: TileModel,
  {
    depth,
    sums,
    out,
    seconds,
  }: { depth: number; sums: readonly Sum[]; out: readonly Sum[]; seconds: number | null },
): Step {
  const n = out.length;
  const before = launch.scanned.map(arithmetic.text);
  const after = out.map(arithmetic.text);
  const { bytes } = arithmetic;
  return {
    ...{ title: `scan_add: what the tiles before have, level ${depth}`, kernels: ['scan_add'], newIndex: [] },
    note: 'Each value gets the sum of all tiles before its own.',
    lines: [
      line('in its tile', before, tile),
      line('sums of earlier tiles', sums.map(arithmetic.text)),
      line('prefix sums', after, tile),
    ],
    ...{ before, after, flow: before.map((_, i) => [i, i] as const) },
    cost: costOf({
      active: firstOf(n, n),
      global: [sideBySide(n), Array.from({ length: n }, (_, i) => Math.floor(i / tile)), sideBySide(n)].map(
        (access) => ({ access, bytes }),
      ),
      kernelSeconds: seconds,
    }),
    source: { file: 'scan.cl', name: 'scan_add', containing: ['+='] },
  };
}

/** Returns the steps of the single pass: the scan within each tile, and the prefix from the preceding tiles. */
function singlePass(
  values: readonly Sum[],
  texts: readonly string[],
  ran: Awaited<ReturnType<typeof run>>,
  how: { groupSize: number; tile: number; arithmetic: Arithmetic },
) {
  const { arithmetic, tile, groupSize } = how;
  const own = tileModel(values, 'tile', how);
  let running = arithmetic.identity;
  const through = own.sums.map((sum) => {
    running = arithmetic.combine(running, sum);
    return running;
  });
  const expected = own.scanned.map((sum, i) => {
    const t = Math.floor(i / tile);
    return t === 0 ? sum : arithmetic.combine(sum, through[t - 1] as Sum);
  });
  const handed = agree('sums that are handed on', arithmetic.read(ran.sums[0] as Uint8Array), through).map(
    arithmetic.text,
  );
  const out = agree('prefix sums', arithmetic.read(ran.out), expected).map(arithmetic.text);
  agree('prefix sums of a second run', arithmetic.read(ran.again), expected);
  const inTile = own.scanned.map(arithmetic.text);
  const common = { kernels: ['scan_single_pass'], newIndex: [] };
  const source = (containing: string[]) => ({ file: 'scan_lab.cl', name: 'scan_single_pass', containing });
  const n = values.length;
  const { bytes } = arithmetic;
  const cost = (kernelSeconds: number | null, accesses: readonly Access[]) =>
    costOf({
      active: Array.from({ length: own.sums.length * groupSize }, (_, i) => i * (tile / groupSize) < n),
      global: accesses.map((access) => ({ access, bytes })),
      kernelSeconds,
    });
  const straight = inTile.map((_, i) => [i, i] as const);
  const steps: Step[] = [
    {
      ...{ title: 'each group scans its tile', note: NOTES.single_pass, ...common },
      lines: [
        line('keys', texts, tile),
        line('in its tile', inTile, tile),
        line('sums of tiles', own.sums.map(arithmetic.text)),
      ],
      ...{ before: texts, after: inTile, flow: straight },
      cost: cost(null, [sideBySide(n)]),
      source: source(['atomic_inc', 'values[k] =', 'totals[']),
    },
    {
      ...{ title: 'each tile waits for the sum of those before it', ...common },
      note: 'Tiles are given out in the order in which groups begin, so that whoever is waited for is running.',
      lines: [
        line('in its tile', inTile, tile),
        line('handed on by each tile', handed),
        line('prefix sums', out, tile),
      ],
      ...{ before: inTile, after: out, flow: straight },
      cost: cost(ran.seconds.at(-1) ?? null, [sideBySide(n)]),
      source: source(['atomic_or', 'atomic_xchg', 'base']),
    },
  ];
  return { steps, result: out };
}
