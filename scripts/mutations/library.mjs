// Faults in src/ (TypeScript): see scripts/mutate.mjs.

import { sorts, tests } from './tests.mjs';

const codec = tests('keys/key-codec');
const hostSort = tests('sort/host/host-sort');
const chunked = tests('sort/calls/chunked');
const tray = tests('device/tray');
const journal = tests('batch/journal');
const forecast = tests('engines/forecast/forecast');
const engineSort = tests('engines/sort');

export const LIBRARY = [
  {
    name: 'codec: the largest number is not turned round',
    file: 'src/keys/key-codec.ts',
    find: `if (codec.descending && code <= codec.lastNumber) code = codec.lastNumber - code;
  return BigInt`,
    replace: `if (codec.descending && code < codec.lastNumber) code = codec.lastNumber - code;
  return BigInt`,
    tests: [codec],
  },
  {
    name: 'codec: NaNs of one sign among the numbers',
    file: 'src/keys/key-codec.ts',
    find: 'lastNumber: ones - 2n * m,',
    replace: 'lastNumber: ones - m,',
    tests: [codec],
  },
  {
    name: 'codec: NaNs first, shifted by those of one sign',
    file: 'src/keys/key-codec.ts',
    find: "nan === 'first' ? 2n * m : 0n",
    replace: "nan === 'first' ? m : 0n",
    tests: [codec],
  },
  {
    name: 'codec words: an identity that is none',
    file: 'src/keys/key-codec.ts',
    find: "identity: type.kind === 'unsigned' && !descending,",
    replace: "identity: type.kind === 'unsigned',",
    tests: [codec],
  },
  {
    name: 'digits: one crosses a word',
    file: 'src/algorithms/digits.ts',
    find: 'Math.min(end, shift - (shift % word) + word)',
    replace: 'Math.min(end, shift + word)',
    tests: [tests('algorithms/digits')],
  },
  {
    name: 'ping-pong: an even number of passes copies first',
    file: 'src/algorithms/passes.ts',
    find: 'input === output && passes % 2 === 1',
    replace: 'input === output && passes % 2 === 0',
    tests: [tests('algorithms/passes')],
  },
  {
    name: 'passes: decoded by the first pass',
    file: 'src/algorithms/passes.ts',
    find: '(last && !codec.identity ? FLAG_DECODE : 0)',
    replace: '(first && !codec.identity ? FLAG_DECODE : 0)',
    tests: [tests('algorithms/passes'), tests('algorithms/radix-sorts', 'tiled argsorts every dtype*')],
  },
  {
    name: 'tile: places of more bits than are kept',
    file: 'src/algorithms/tile.ts',
    find: 'tile.groupSize * tile.keysPerItem > 2 ** 16;',
    replace: 'tile.groupSize * tile.keysPerItem > 2 ** 17;',
    tests: [tests('algorithms/tile')],
  },
  {
    name: 'tile: codes begin within the origins',
    file: 'src/algorithms/tile.ts',
    find: '(bins * offsetBits) / 8 + (scanWords + flagWords) * 4,',
    replace: '(scanWords + flagWords) * 4,',
    tests: [tests('algorithms/several-groups', 'tiled: a tile takes*')],
  },
  {
    name: 'tiled: the last group is not launched',
    file: 'src/algorithms/tiled-radix.ts',
    find: 'return { groups: Math.ceil(tiles / tilesPerGroup), tilesPerGroup };',
    replace: 'return { groups: Math.max(1, Math.floor(tiles / tilesPerGroup)), tilesPerGroup };',
    tests: [tests('algorithms/several-groups', '*tiled*')],
  },
  {
    name: 'onesweep: no group for where the digits begin',
    file: 'src/algorithms/onesweep.ts',
    find: 'return 1 + Math.ceil(n / (this.#tuning.groupSize',
    replace: 'return Math.ceil(n / (this.#tuning.groupSize',
    tests: [sorts('onesweep', 3001)],
  },
  {
    name: 'host: equal keys in reverse',
    file: 'src/sort/host/host-sort.ts',
    find: `const scatter2: Scatter = (from, to, word, shift, mask, next) => {
  for (let i = 0; i < from.length; i += 2) {`,
    replace: `const scatter2: Scatter = (from, to, word, shift, mask, next) => {
  for (let i = from.length - 2; i >= 0; i -= 2) {`,
    tests: [hostSort],
  },
  {
    name: 'host: in order but for the high words',
    file: 'src/sort/host/host-sort.ts',
    find: 'if (high < lastHigh || (high === lastHigh && low < lastLow)) return false;',
    replace: 'if (high === lastHigh && low < lastLow) return false;',
    tests: [hostSort],
  },
  {
    name: 'host: inserted before equal ones',
    file: 'src/sort/host/host-sort.ts',
    find: '& lowMask) >>> 0 > low) place -= stride;',
    replace: '& lowMask) >>> 0 >= low) place -= stride;',
    tests: [hostSort],
  },
  {
    name: 'host: counts of a digit not added up',
    file: 'src/sort/host/host-sort.ts',
    find: `    bins[bin] = sum;
    sum += count;`,
    replace: `    bins[bin] = sum;
    sum = count;`,
    tests: [hostSort],
  },
  {
    name: 'host: the second digit is not counted when there are two',
    file: 'src/sort/host/host-sort.ts',
    find: 'if (b && y) countOne(slice, word, stride, b, y);',
    replace: '',
    tests: [hostSort],
  },
  {
    name: 'chunks: each part begins where the runs do',
    file: 'src/sort/calls/chunked.ts',
    find: '    from = to;\n',
    replace: '',
    tests: [chunked],
  },
  {
    name: 'chunks: equal keys taken from every run',
    file: 'src/sort/calls/chunked.ts',
    find: '    left -= equal;\n',
    replace: '',
    tests: [chunked],
  },
  {
    name: 'chunks: cut below the rank',
    equivalent:
      'where so many keys lie below a digit, those of the largest smaller digit are all taken: the cuts are the same',
    file: 'src/sort/calls/chunked.ts',
    find: 'if (total(below(middle)) <= rank) low = middle;',
    replace: 'if (total(below(middle)) < rank) low = middle;',
    tests: [chunked],
  },
  {
    name: 'tray: places are free before the queue has come past them',
    file: 'src/device/tray.ts',
    find: 'this.#freed = Math.max(this.#freed, taken);',
    replace: 'this.#freed = Math.max(this.#freed, this.#taken);',
    tests: [tray],
  },
  {
    name: 'tray: brought although it failed',
    file: 'src/device/tray.ts',
    find: 'if (well) for (const landing of landings) land(landing);',
    replace: 'for (const landing of landings) land(landing);',
    tests: [tray],
  },
  {
    name: 'pool: lent to another queue while it is used',
    file: 'src/device/buffer-pool.ts',
    find: '(!atRest || rests(buffer))',
    replace: '(!atRest || buffer.bytes > 0)',
    tests: [tests('device/buffer-pool')],
  },
  {
    name: 'launches: an argument that changed is not set',
    file: 'src/device/launch-list.ts',
    find: 'return last.type === arg.type && last.value === arg.value;',
    replace: 'return last.type === arg.type;',
    tests: [tests('device/launch-list')],
  },
  {
    name: 'launches: of a number its low half only',
    file: 'src/device/launch-list.ts',
    find: 'view.setInt32(at + 4, Math.floor(value / 2 ** 32), true);',
    replace: 'view.setInt32(at + 4, 0, true);',
    tests: [tests('device/launch-list')],
  },
  {
    name: 'queue: what waits is not sent before a read',
    file: 'src/device/queue.ts',
    find: 'this.#recording = false; // what was recorded so far is not all\n    if (this.#launches.length === 0) return;',
    replace: 'this.#recording = false;\n    if (this.#launches.length < 2) return;',
    tests: [tests('device/queue')],
  },
  {
    name: 'milestones: whoever comes later is told too early',
    file: 'src/device/milestones.ts',
    find: 'if (!this.#current) return this.#ask();',
    replace: 'if (!this.#current) return this.#ask();\n    if (!this.#next) return this.#current;',
    tests: [tests('device/milestones')],
  },
  {
    name: 'link: an input that is made once more is not noticed',
    file: 'src/sort/calls/link.ts',
    find: 'repeated ||= input.repeated();',
    replace: 'repeated &&= input.repeated();',
    tests: [tests('sort/calls/link')],
  },
  {
    name: 'verify: order alone',
    file: 'src/sort/proof/verify.ts',
    find: 'permutation: input.read().hash === after.hash',
    replace: 'permutation: true',
    tests: [tests('sort/proof/verify')],
  },
  {
    name: 'cache: a binary of another program',
    equivalent:
      'the seal covers the name of the file too, which is half of the key: a file under another name is not read at all',
    file: 'src/device/program-cache.ts',
    find: 'return named && binary.length > 0 ? binary : undefined;',
    replace: 'return binary.length > 0 ? binary : undefined;',
    tests: [tests('device/program-cache')],
  },
  {
    name: 'journal: a job with other options is done',
    file: 'src/batch/journal.ts',
    find: '  if (JSON.stringify(record.options) !== JSON.stringify(optionsOf(job, folder))) return false;\n',
    replace: '',
    tests: [journal],
  },
  {
    name: 'journal: half a line stays',
    file: 'src/batch/journal.ts',
    find: '        ftruncateSync(fd, wholeBytes);\n',
    replace: '',
    tests: [journal],
  },
  {
    name: 'trial: a result that was there before counts',
    file: 'src/algorithms/trial.ts',
    find: '    queue.fill(output, POISON, { bytes: bytes - (bytes % 4) });\n',
    replace: '    void bytes;\n',
    tests: [tests('algorithms/trial')],
  },
  {
    name: 'tuning: the later row does not win',
    file: 'src/algorithms/tuning.ts',
    find: 'Object.assign({}, ...all, shape.tuning);',
    replace: 'Object.assign({}, shape.tuning, ...all);',
    tests: [tests('algorithms/tuning'), tests('algorithms/tile')],
  },
  {
    name: 'forecast: a wave that is not full takes a part of its time',
    file: 'src/engines/forecast/forecast.ts',
    find: 'const waves = Math.ceil(tasks / (nodes * gpus));',
    replace: 'const waves = tasks / (nodes * gpus);',
    tests: [forecast],
  },
  {
    name: 'forecast: what nodes have themselves crosses the network',
    file: 'src/engines/forecast/forecast.ts',
    find: '((nodes - 1) / nodes) * (read + written)',
    replace: '(read + written)',
    tests: [forecast],
  },
  {
    name: 'fit: what tasks take is counted for bytes, too',
    file: 'src/engines/forecast/fit.ts',
    find: 'cost: above0(sum(spent(run, stage), taken(run), -1)),',
    replace: 'cost: above0(spent(run, stage)),',
    tests: [tests('engines/forecast/fit')],
  },
  {
    name: 'shares: the last tasks belong to nobody',
    file: 'src/engines/shares.ts',
    find: 'for (let index = share; index < count; index += shares, run++) {',
    replace: 'for (let index = share; index < count - 1; index += shares, run++) {',
    tests: [tests('engines/schedulers')],
  },
  {
    name: 'sort part: pieces of shards from the last one on',
    file: 'src/engines/sort-part.ts',
    find: `  let at = 0;
  for (const [shard, size] of part.sizes.entries()) {`,
    replace: `  let at = 0;
  for (const [shard, size] of [...part.sizes.entries()].reverse()) {`,
    tests: [engineSort],
  },
  {
    name: 'verify part: what was sorted is not compared',
    file: 'src/engines/verify-part.ts',
    find: '  if (!same)\n',
    replace: '  if (!same && index < 0)\n',
    tests: [engineSort],
  },
  {
    name: 'rooms: a piece is made in a room that is not free',
    file: 'src/io/through-rooms.ts',
    find: 'for (let i = 0; i < ahead; i++) begin();',
    replace: 'for (let i = 0; i <= ahead; i++) begin();',
    tests: [tests('io/through-rooms')],
  },
  {
    name: 'rooms: a failure does not wait for those who use them',
    file: 'src/io/through-rooms.ts',
    find: 'await Promise.allSettled(made);',
    replace: 'void Promise.allSettled(made);',
    tests: [tests('io/through-rooms')],
  },
  {
    name: 'sort on device: the last piece is as long as any',
    file: 'src/io/sort-on-device.ts',
    find: 'room.subarray(0, bytes - piece * length);',
    replace: 'room;',
    tests: [tests('io/sort-on-device')],
  },
  {
    name: 'sort on device: files are hashed out of order',
    file: 'src/io/sort-on-device.ts',
    find: 'context.hashes ? 1 : READ_AHEAD);',
    replace: 'READ_AHEAD);',
    tests: [tests('io/sort-on-device')],
  },
  {
    name: 'file hash: what is known already is hashed once more',
    file: 'src/io/file-hash.ts',
    find: 'await move({ words, skipped: this.#bytes - position });',
    replace: 'await move({ words, skipped: 0 });',
    tests: [tests('io/file-hash')],
  },
  {
    name: 'move file: a file that is cut is not seen',
    file: 'src/io/move-file.ts',
    find: 'if (made.moved < part.bytes) {',
    replace: 'if (made.moved > part.bytes) {',
    tests: [tests('io/sort-on-device')],
  },
  {
    name: 'turns: who is alone waits for what stands apart',
    file: 'src/sort/calls/turns.ts',
    find: 'const before = Promise.all(this.#underWay);',
    replace: 'const before = this.settled();',
    tests: [tests('sort/calls/turns')],
  },
];
