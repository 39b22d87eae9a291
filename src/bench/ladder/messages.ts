/** The claims of the lectures about the steps of each ladder, and why they may fail on other devices. */
import { type Access, bankTurns } from '../../lab/memory-model.js';
import type { LadderName } from './task.js';

type DeviceType = 'cpu' | 'gpu';

/** Claims that one step is faster than another. */
export interface LectureClaim {
  readonly primitive: LadderName;
  readonly task: string;
  readonly claim: string;
  readonly better: string;
  readonly worse: string;
  /** Allowed slowdown as a share, for claims of equal speed. */
  readonly slack?: number;
  /** Why the claim is made, and why it may fail on a device of this type. */
  readonly model: Readonly<Record<DeviceType, string>>;
}

const ITEMS = 256;
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/**
 * Returns the maximum number of serialised bank accesses over all levels of a tree.
 *
 * @param bytes size of an element
 */
function treeTurns(
  accesses: (distance: number) => Access,
  bytes: number,
  banks: number,
  pad = false,
): number {
  let maxTurns = 1;
  for (let distance = 1; distance < ITEMS; distance *= 2) {
    maxTurns = Math.max(maxTurns, bankTurns(accesses(distance), bytes, banks, pad));
  }
  return maxTurns;
}

const compacted = (distance: number): Access =>
  range(ITEMS).map((item) => (2 * distance * item < ITEMS ? 2 * distance * item : undefined));
const swept = (distance: number): Access =>
  range(ITEMS).map((item) => {
    const at = distance * (2 * item + 2) - 1;
    return at < 2 * ITEMS ? at : undefined;
  });
/** Byte addresses in which neighbouring work-items count, when all count different bins. */
const layouts = {
  items: range(32).map((item) => item * 64 + ((item * 7) % 64)),
  bins: range(32).map((item) => ((item * 7) % 64) * ITEMS + item),
  permuted: range(32).map((item) => ((item * 7) % 64) * ITEMS + (item % 64) * 4),
};
const turns = (access: Access, banks: number): number => bankTurns(access, 1, banks, false);

const CPU_LOOPS = 'a CPU runs the work-items of a group in a loop, has no banks, and no rows that diverge';
const onBoth = (text: string): LectureClaim['model'] => ({ cpu: text, gpu: text });

export const LECTURE_CLAIMS: readonly LectureClaim[] = [
  {
    ...{
      primitive: 'reduce',
      task: 'sum',
      claim: 'compacting beats interleaving',
      better: 'compacted',
      worse: 'interleaved',
    },
    model: {
      gpu: `it frees whole rows of work-items, but its strides take ${treeTurns(compacted, 8, 32)} turns at 32 banks and ${treeTurns(compacted, 8, 16)} at 16, where interleaving takes as few as its active work-items; where rows are scheduled one by one, turns cost more than idle lanes`,
      cpu: CPU_LOOPS,
    },
  },
  {
    ...{
      primitive: 'reduce',
      task: 'sum',
      claim: 'halving distances beats compacting',
      better: 'halving',
      worse: 'compacted',
    },
    model: {
      gpu: `neighbours read neighbouring words, 1 turn instead of up to ${treeTurns(compacted, 8, 32)} at 32 banks`,
      cpu: `${CPU_LOOPS}; neighbouring words are what its vectors take`,
    },
  },
  {
    ...{
      primitive: 'reduce',
      task: 'sum',
      claim: 'two loads beat one',
      better: 'two_loads',
      worse: 'halving',
    },
    model: onBoth('half the groups, and no work-item is idle from the start'),
  },
  {
    ...{
      primitive: 'reduce',
      task: 'sum',
      claim: 'an unrolled tail beats the loop',
      better: 'unrolled',
      worse: 'two_loads',
    },
    model: onBoth(
      'the lectures left out the barriers of the last 32 work-items, which is right in lock step only; with all barriers only the loop is saved, and compilers unroll it themselves',
    ),
  },
  {
    ...{
      primitive: 'reduce',
      task: 'sum',
      claim: 'sub-groups beat barriers at the tail',
      better: 'subgroups',
      worse: 'unrolled',
    },
    model: onBoth('one barrier instead of nine; the rest stays in registers'),
  },
  {
    ...{
      primitive: 'reduce',
      task: 'sum',
      claim: 'a walk over the grid beats a tree for every tile',
      better: 'grid',
      worse: 'unrolled',
    },
    model: onBoth('keys are added in registers, and trees are left for the last values only'),
  },
  {
    ...{
      primitive: 'scan',
      task: 'prefix sums',
      claim: 'padding removes conflicts',
      better: 'padded',
      worse: 'sweep',
    },
    model: {
      gpu: `the tree takes up to ${treeTurns(swept, 4, 32)} turns at 32 banks and ${treeTurns(swept, 4, 16)} at 16, padded ${treeTurns(swept, 4, 32, true)} and ${treeTurns(swept, 4, 16, true)}; where memory is the limit they are hidden`,
      cpu: `${CPU_LOOPS}: the padding only costs additions`,
    },
  },
  {
    ...{
      primitive: 'scan',
      task: 'prefix sums',
      claim: 'a tree beats Hillis and Steele',
      better: 'sweep',
      worse: 'hillis_steele',
    },
    model: onBoth(
      'twice as many levels and barriers, for 2 n instead of n log n additions: additions were dear when the tree was taught, barriers are now',
    ),
  },
  {
    ...{
      primitive: 'scan',
      task: 'prefix sums',
      claim: 'values in registers beat a tree over all of them',
      better: 'tile',
      worse: 'padded',
    },
    model: onBoth('eight values a work-item: an eighth of the local memory and of the tiles'),
  },
  {
    ...{
      primitive: 'scan',
      task: 'prefix sums',
      claim: 'a single pass beats recursion',
      better: 'single_pass',
      worse: 'tile',
    },
    model: onBoth(
      'values are read and written once instead of twice; but each tile waits for the one before it, and this one looks back by one tile only',
    ),
  },
  ...histogramClaims(),
  {
    ...{
      primitive: 'sorts',
      task: 'network',
      claim: 'local memory beats a launch for each step',
      better: 'bitonic_local',
      worse: 'bitonic_global',
    },
    model: onBoth('steps within 1024 keys share a launch, and one way to global memory and back'),
  },
  {
    ...{
      primitive: 'sorts',
      task: 'network',
      claim: 'the flip form costs nothing',
      better: 'bitonic_global',
      worse: 'bitonic_alternating',
      slack: 0.05,
    },
    model: onBoth(
      'the same number of steps and comparators, and the order of equal keys beside them only where it is asked for',
    ),
  },
  {
    ...{
      primitive: 'sorts',
      task: 'network',
      claim: 'a bitonic network beats odd-even transposition',
      better: 'bitonic_global',
      worse: 'odd_even',
    },
    model: onBoth('log n (log n + 1) / 2 steps instead of n'),
  },
  {
    ...{
      primitive: 'sorts',
      task: 'merge of runs of 512',
      claim: 'a group beats a work-item at runs of 512',
      better: 'merge_middle',
      worse: 'merge_short',
    },
    model: {
      gpu: 'one work-item for 1024 keys leaves most of the device idle, and neighbours read 4 KiB apart',
      cpu: 'a CPU has a few cores, and one work-item for 1024 keys is work enough; a search for each key is more of it',
    },
  },
  {
    ...{
      primitive: 'sorts',
      task: 'merge of runs of 512',
      claim: 'splitters cost little',
      better: 'merge_long',
      worse: 'merge_middle',
      slack: 0.2,
    },
    model: onBoth(
      'at this length they are not needed; from twice as long runs on nothing else fits local memory',
    ),
  },
  {
    ...{
      primitive: 'sorts',
      task: 'rows of 32',
      claim: 'votes of sub-groups beat masks by atomics',
      better: 'votes_khr',
      worse: 'votes_masks',
    },
    model: onBoth('one ballot instead of an atomic for each zero'),
  },
  {
    ...{
      primitive: 'sorts',
      task: 'rows of 32',
      claim: 'votes of PTX beat masks by atomics',
      better: 'votes_ptx',
      worse: 'votes_masks',
    },
    model: onBoth('one vote of the warp instead of an atomic for each zero'),
  },
  {
    ...{
      primitive: 'sorts',
      task: 'scan of blocks',
      claim: '16 bins a group beat one',
      better: 'amd_scan_16_bins',
      worse: 'amd_scan_one_bin',
    },
    model: onBoth(
      'rows of the table are read 64 bytes at a time; with one bin every word of 4 is alone in its sector of 32',
    ),
  },
  {
    ...{
      primitive: 'sorts',
      task: 'move of a pass',
      claim: 'one block a group beats 64',
      better: 'amd_permute_one_block',
      worse: 'amd_permute_64_blocks',
    },
    model: {
      gpu: 'neighbours read keys side by side instead of 1 KiB apart: 4 sectors a row instead of 32',
      cpu: 'a work-item of a CPU reads 256 keys in a row, which its caches like; shorter stretches are counted and scanned first',
    },
  },
];

function histogramClaims(): LectureClaim[] {
  const of = (
    task: string,
    claim: string,
    better: string,
    worse: string,
    model: LectureClaim['model'],
  ): LectureClaim => ({
    ...{ primitive: 'histogram', task, claim, better, worse, model },
  });
  const { items, bins, permuted } = layouts;
  return [
    of('64 bins', 'by bin beats by work-item', 'private_bins', 'private_items', {
      gpu: `${turns(bins, 32)} turns at 32 banks against ${turns(items, 32)}, at 16 banks ${turns(bins, 16)} against ${turns(items, 16)}`,
      cpu: `${CPU_LOOPS}; the bytes of one work-item share cache lines, those of one bin do not`,
    }),
    of('64 bins', 'permuting beats by bin', 'permuted', 'private_bins', {
      gpu: `${turns(permuted, 32)} turns at 32 banks against ${turns(bins, 32)}; the permutation was for 16 banks that serve one byte of a word at a time, which GPUs have not had since 2010`,
      cpu: CPU_LOOPS,
    }),
    of(
      '64 bins',
      'private counters beat global ones',
      'private_bins',
      'global',
      onBoth('no atomic at all instead of one for each key, which wait for each other'),
    ),
    of(
      '64 bins',
      'atomics of rows beat private bytes',
      'waves',
      'private_bins',
      onBoth(
        'atomics in local memory are as fast as plain additions on GPUs since 2014; bytes take 16 KiB a group, and a flush',
      ),
    ),
    ...['64 bins', '256 bins'].map((task) =>
      of(
        task,
        'atomics beat tagged counters without lock step',
        'waves',
        'tagged',
        onBoth('three barriers for each attempt are what being warp-free costs; in lock step tags had none'),
      ),
    ),
    of(
      '256 bins',
      'a histogram for each row beats a global one',
      'waves',
      'global',
      onBoth('keys of one bin wait for those of 32 work-items only'),
    ),
    of(
      'image of bytes',
      'vector loads beat bytes',
      'bytes_vector',
      'bytes_scalar',
      onBoth('16 keys a load; counting is the same'),
    ),
    of(
      'merge of groups',
      'a parallel merge beats a serial one',
      'merge_parallel',
      'merge_serial',
      onBoth('a group for each bin instead of a work-item; with few groups there is nothing to share'),
    ),
  ];
}
