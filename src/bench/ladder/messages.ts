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

const claim = (
  primitive: LadderName,
  task: string,
  text: string,
  better: string,
  worse: string,
  model: LectureClaim['model'],
  slack?: number,
): LectureClaim => ({
  ...{ primitive, task, claim: text, better, worse, model },
  ...(slack !== undefined && { slack }),
});

const { items, bins, permuted } = layouts;

export const LECTURE_CLAIMS: readonly LectureClaim[] = [
  claim('reduce', 'sum', 'compacting beats interleaving', 'compacted', 'interleaved', {
    gpu: `it frees whole rows of work-items, but its strides take ${treeTurns(compacted, 8, 32)} turns at 32 banks and ${treeTurns(compacted, 8, 16)} at 16, where interleaving takes as few as its active work-items; where rows are scheduled one by one, turns cost more than idle lanes`,
    cpu: CPU_LOOPS,
  }),
  claim('reduce', 'sum', 'halving distances beats compacting', 'halving', 'compacted', {
    gpu: `neighbours read neighbouring words, 1 turn instead of up to ${treeTurns(compacted, 8, 32)} at 32 banks`,
    cpu: `${CPU_LOOPS}; neighbouring words are what its vectors take`,
  }),
  claim(
    'reduce',
    'sum',
    'two loads beat one',
    'two_loads',
    'halving',
    onBoth('half the groups, and no work-item is idle from the start'),
  ),
  claim(
    'reduce',
    'sum',
    'an unrolled tail beats the loop',
    'unrolled',
    'two_loads',
    onBoth(
      'the lectures left out the barriers of the last 32 work-items, which is right in lock step only; with all barriers only the loop is saved, and compilers unroll it themselves',
    ),
  ),
  claim(
    'reduce',
    'sum',
    'sub-groups beat barriers at the tail',
    'subgroups',
    'unrolled',
    onBoth('one barrier instead of nine; the rest stays in registers'),
  ),
  claim(
    'reduce',
    'sum',
    'a walk over the grid beats a tree for every tile',
    'grid',
    'unrolled',
    onBoth('keys are added in registers, and trees are left for the last values only'),
  ),
  claim('scan', 'prefix sums', 'padding removes conflicts', 'padded', 'sweep', {
    gpu: `the tree takes up to ${treeTurns(swept, 4, 32)} turns at 32 banks and ${treeTurns(swept, 4, 16)} at 16, padded ${treeTurns(swept, 4, 32, true)} and ${treeTurns(swept, 4, 16, true)}; where memory is the limit they are hidden`,
    cpu: `${CPU_LOOPS}: the padding only costs additions`,
  }),
  claim(
    'scan',
    'prefix sums',
    'a tree beats Hillis and Steele',
    'sweep',
    'hillis_steele',
    onBoth(
      'twice as many levels and barriers, for 2 n instead of n log n additions: additions were dear when the tree was taught, barriers are now',
    ),
  ),
  claim(
    'scan',
    'prefix sums',
    'values in registers beat a tree over all of them',
    'tile',
    'padded',
    onBoth('eight values a work-item: an eighth of the local memory and of the tiles'),
  ),
  claim(
    'scan',
    'prefix sums',
    'a single pass beats recursion',
    'single_pass',
    'tile',
    onBoth(
      'values are read and written once instead of twice; but each tile waits for the one before it, and this one looks back by one tile only',
    ),
  ),
  claim('histogram', '64 bins', 'by bin beats by work-item', 'private_bins', 'private_items', {
    gpu: `${turns(bins, 32)} turns at 32 banks against ${turns(items, 32)}, at 16 banks ${turns(bins, 16)} against ${turns(items, 16)}`,
    cpu: `${CPU_LOOPS}; the bytes of one work-item share cache lines, those of one bin do not`,
  }),
  claim('histogram', '64 bins', 'permuting beats by bin', 'permuted', 'private_bins', {
    gpu: `${turns(permuted, 32)} turns at 32 banks against ${turns(bins, 32)}; the permutation was for 16 banks that serve one byte of a word at a time, which GPUs have not had since 2010`,
    cpu: CPU_LOOPS,
  }),
  claim(
    'histogram',
    '64 bins',
    'private counters beat global ones',
    'private_bins',
    'global',
    onBoth('no atomic at all instead of one for each key, which wait for each other'),
  ),
  claim(
    'histogram',
    '64 bins',
    'atomics of rows beat private bytes',
    'waves',
    'private_bins',
    onBoth(
      'atomics in local memory are as fast as plain additions on GPUs since 2014; bytes take 16 KiB a group, and a flush',
    ),
  ),
  ...['64 bins', '256 bins'].map((task) =>
    claim(
      'histogram',
      task,
      'atomics beat tagged counters without lock step',
      'waves',
      'tagged',
      onBoth('three barriers for each attempt are what being warp-free costs; in lock step tags had none'),
    ),
  ),
  claim(
    'histogram',
    '256 bins',
    'a histogram for each row beats a global one',
    'waves',
    'global',
    onBoth('keys of one bin wait for those of 32 work-items only'),
  ),
  claim(
    'histogram',
    'image of bytes',
    'vector loads beat bytes',
    'bytes_vector',
    'bytes_scalar',
    onBoth('16 keys a load; counting is the same'),
  ),
  claim(
    'histogram',
    'merge of groups',
    'a parallel merge beats a serial one',
    'merge_parallel',
    'merge_serial',
    onBoth('a group for each bin instead of a work-item; with few groups there is nothing to share'),
  ),
  claim(
    'sorts',
    'network',
    'local memory beats a launch for each step',
    'bitonic_local',
    'bitonic_global',
    onBoth('steps within 1024 keys share a launch, and one way to global memory and back'),
  ),
  claim(
    'sorts',
    'network',
    'the flip form costs nothing',
    'bitonic_global',
    'bitonic_alternating',
    onBoth(
      'the same number of steps and comparators, and the order of equal keys beside them only where it is asked for',
    ),
    0.05,
  ),
  claim(
    'sorts',
    'network',
    'a bitonic network beats odd-even transposition',
    'bitonic_global',
    'odd_even',
    onBoth('log n (log n + 1) / 2 steps instead of n'),
  ),
  claim(
    'sorts',
    'merge of runs of 512',
    'a group beats a work-item at runs of 512',
    'merge_middle',
    'merge_short',
    {
      gpu: 'one work-item for 1024 keys leaves most of the device idle, and neighbours read 4 KiB apart',
      cpu: 'a CPU has a few cores, and one work-item for 1024 keys is work enough; a search for each key is more of it',
    },
  ),
  claim(
    'sorts',
    'merge of runs of 512',
    'splitters cost little',
    'merge_long',
    'merge_middle',
    onBoth('at this length they are not needed; from twice as long runs on nothing else fits local memory'),
    0.2,
  ),
  claim(
    'sorts',
    'rows of 32',
    'votes of sub-groups beat masks by atomics',
    'votes_khr',
    'votes_masks',
    onBoth('one ballot instead of an atomic for each zero'),
  ),
  claim(
    'sorts',
    'rows of 32',
    'votes of PTX beat masks by atomics',
    'votes_ptx',
    'votes_masks',
    onBoth('one vote of the warp instead of an atomic for each zero'),
  ),
  claim(
    'sorts',
    'scan of blocks',
    '16 bins a group beat one',
    'amd_scan_16_bins',
    'amd_scan_one_bin',
    onBoth(
      'rows of the table are read 64 bytes at a time; with one bin every word of 4 is alone in its sector of 32',
    ),
  ),
  claim(
    'sorts',
    'move of a pass',
    'one block a group beats 64',
    'amd_permute_one_block',
    'amd_permute_64_blocks',
    {
      gpu: 'neighbours read keys side by side instead of 1 KiB apart: 4 sectors a row instead of 32',
      cpu: 'a work-item of a CPU reads 256 keys in a row, which its caches like; shorter stretches are counted and scanned first',
    },
  ),
];
