/** Files sorted in the memory of a device, as with dedicated memory. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import type { FileContext, FileReport, LargeFileJob } from '../../../src/io/file-sort/file-job.js';
import { planFile } from '../../../src/io/file-sort/file-plan.js';
import { fileFacts, sortFile, sortKeys, withFileSort } from '../../../src/io/file-sort/sort-file.js';
import { sortOnDevice, streamingDevice } from '../../../src/io/file-sort/sort-on-device.js';
import type { KeyReader } from '../../../src/io/formats/key-file.js';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { generate } from '../../../src/io/operations/gen.js';
import { ArrayPool } from '../../../src/io/streams/array-pool.js';
import { FileHashes } from '../../../src/io/streams/file-hash.js';
import { type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import { DeviceArray } from '../../../src/sort/model/device-array.js';
import { AbortedError, DeviceLostError, IoError, MemoryError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { forEachSorter } from '../../each-sorter.js';
import { type ReferenceOrder, referenceArgsort, referenceSort } from '../../reference.js';
import { nowhere } from '../context.js';

const { path, folder, remove } = scratchFolder();
test.after.always(remove);

/** Several pieces; the last one is shorter. */
const PIECE_BYTES = 2 ** 12;
const COUNT = 5001;

/** Concurrent reads of pieces: now, and at peak. */
const reading = { now: 0, most: 0 };

/** The same keys, with a counter of concurrent reads. */
function watched(reader: KeyReader): KeyReader {
  const readAt = async (into: Uint8Array, position: number): Promise<void> => {
    reading.most = Math.max(reading.most, ++reading.now);
    await setImmediate();
    await reader.readAt?.(into, position);
    reading.now--;
  };
  return Object.create(reader, { readAt: { value: reader.readAt && readAt } });
}

/**
 * Sorts on the device.
 * @returns undefined if the job must take another path
 */
async function sortBy(
  byThreads: boolean,
  sorter: Sorter,
  job: LargeFileJob,
  context: Partial<FileContext> = {},
): Promise<FileReport | undefined> {
  let report: FileReport | undefined;
  await withFileSort(sorter, job, { ...nowhere, ...context }, async (work) => {
    reading.most = 0;
    const options = { pieceBytes: PIECE_BYTES, byThreads };
    const plan = planFile({ ...fileFacts(work), device: streamingDevice(work, options) });
    if (plan === 'device') report = await sortOnDevice({ ...work, reader: watched(work.reader) }, options);
    return report ?? sortKeys(work);
  });
  return report;
}

function keysOf(dtype: Dtype, count = COUNT): { readonly keys: Uint8Array; readonly from: string } {
  const keys = generate({ dtype, count, distribution: 'special', seed: 3 });
  const from = path(`${count}.${dtype}`);
  writeFileSync(from, keys);
  return { keys, from };
}

const positionsOf = (keys: Uint8Array, dtype: Dtype, order?: ReferenceOrder): Uint8Array =>
  new Uint8Array(Uint32Array.from(referenceArgsort(keys, dtype, order)).buffer);

const left = (): string[] => readdirSync(folder).filter((name) => name.startsWith('.'));

/** Whether threads of the addon move files where possible, or JavaScript does. */
const WAYS = process.platform === 'win32' ? [false] : [true, false];

forEachSorter((title, open) => {
  if (title('').startsWith('host')) return; // it has no device
  for (const byThreads of WAYS) {
    sortsOf((claim) => title(byThreads ? claim : `${claim}, by JavaScript`), open, byThreads);
  }
});

function sortsOf(title: (claim: string) => string, open: () => Promise<Sorter>, byThreads: boolean): void {
  const sortSo = (sorter: Sorter, job: LargeFileJob, context?: Partial<FileContext>) =>
    sortBy(byThreads, sorter, job, context);

  for (const dtype of ['u8', 'f16', 'bf16', 'i32', 'u64', 'f64'] as const) {
    test.serial(title(`${dtype}: keys and positions equal the reference`), async (t) => {
      const sorter = await open();
      const { keys, from } = keysOf(dtype, (COUNT * 4) / Math.min(4, dtypeInfo(dtype).bytes));
      for (const order of [{}, { descending: true, nan: 'first', bits: [1, 6] }] as const) {
        const out = path(`out.${dtype}`);
        const progress: string[] = [];
        const onProgress = ({ phase, done, total }: { phase: string; done: number; total: number }) =>
          void progress.push(`${phase} ${done / total}`);
        const report = await sortSo(sorter, { in: from, out, ...order } as LargeFileJob, { onProgress });
        t.deepEqual(new Uint8Array(readFileSync(out)), referenceSort(keys, dtype, order as ReferenceOrder));
        t.is(report?.n, keys.length / dtypeInfo(dtype).bytes);
        t.deepEqual(report?.shape, [report?.n]);
        t.true(progress.includes('reading 1') && progress.includes('writing 1'));
        const positions = path('positions.u32');
        t.truthy(await sortSo(sorter, { in: from, out: positions, argsort: true, ...order } as LargeFileJob));
        const expected = positionsOf(keys, dtype, order as ReferenceOrder);
        t.deepEqual(new Uint8Array(readFileSync(positions)), expected);
      }
      t.is(sorter.memory().used, 0);
    });
  }

  test.serial(
    title('files are sorted across formats and byte orders and in place, with pooled buffers and checksums'),
    async (t) => {
      const sorter = await open();
      const { keys } = keysOf('f32');
      const sorted = referenceSort(keys, 'f32');
      const npy = path('keys.npy');
      writeFileSync(npy, Buffer.concat([npyHeader('f32', [COUNT]), keys]));
      const pool = new ArrayPool(sorter, 2 ** 24);
      for (const [name, bytes] of [
        ['big.f32be', Buffer.from(sorted).swap32()],
        ['out.npy', Buffer.concat([npyHeader('f32', [COUNT]), sorted])],
        ['keys.npy', Buffer.concat([npyHeader('f32', [COUNT]), sorted])],
      ] as const) {
        const hashes = new FileHashes();
        const out = path(name);
        const before = statSync(npy).size;
        const report = await sortSo(sorter, { in: npy, out }, { hashes, arrays: pool });
        t.truthy(report, name);
        t.deepEqual(readFileSync(out), bytes, name);
        t.is(hashes.forInput(npy).bytes, before, 'all bytes were hashed while reading');
        t.is(reading.most, byThreads ? 0 : 1, 'read in order, by threads or in JavaScript');
        t.is(hashes.forOutput(out).bytes, bytes.length, 'all bytes were hashed while writing');
      }
      const read = await sortSo(sorter, { in: path('big.f32be'), out: path('little.f32') });
      t.truthy(read);
      t.is(reading.most, 3, 'threads swap no bytes');
      t.deepEqual(new Uint8Array(readFileSync(path('little.f32'))), sorted);
    },
  );

  test.serial(
    title('a job that the device path does not support takes another path and is correct'),
    async (t) => {
      const sorter = await open();
      const { keys, from } = keysOf('u32');
      const { from: few } = keysOf('u32', 2000);
      const out = path('other.u32');
      for (const job of [
        { in: from, verify: true },
        { in: from, unique: true },
        { in: [from, few] },
        { in: few },
      ]) {
        t.is(await sortSo(sorter, { ...job, out }), undefined, JSON.stringify(job));
      }
      await sortSo(sorter, { in: from, verify: true, out });
      t.deepEqual(new Uint8Array(readFileSync(out)), referenceSort(keys, 'u32'));
    },
  );

  test.serial(
    title('without device memory, or after a lost device, the sort takes another path'),
    async (t) => {
      const sorter = await open();
      const { keys, from } = keysOf('u32');
      const out = path('lost.u32');
      const { createArray } = sorter;
      const { readInto, readTo } = DeviceArray.prototype;
      let reads = 0;
      const read = (): void => {
        if (++reads === 3) throw new DeviceLostError('gone');
      };
      for (const spoil of [
        () => {
          sorter.createArray = () => {
            throw new MemoryError('no room');
          };
        },
        () => {
          DeviceArray.prototype.readInto = async function (this: DeviceArray, ...args) {
            read();
            return readInto.apply(this, args);
          };
          DeviceArray.prototype.readTo = async function (this: DeviceArray, ...args) {
            read();
            return readTo.apply(this, args);
          };
        },
      ]) {
        writeFileSync(out, 'as it was');
        spoil();
        try {
          t.is(await sortSo(sorter, { in: from, out }), undefined);
        } finally {
          sorter.createArray = createArray;
          Object.assign(DeviceArray.prototype, { readInto, readTo });
        }
        t.deepEqual(new Uint8Array(readFileSync(out)), referenceSort(keys, 'u32'));
        t.is(sorter.memory().used, 0);
      }
      t.is(reads, 3);
      t.deepEqual(left(), []);
    },
  );

  test.serial(title('an abort or a truncated input leaves the output unchanged'), async (t) => {
    const sorter = await open();
    const { from } = keysOf('u32');
    const out = path('aborted.u32');
    for (const phase of ['reading', 'writing']) {
      writeFileSync(out, 'as it was');
      const controller = new AbortController();
      const onProgress = (reported: { phase: string }) => reported.phase === phase && controller.abort();
      await t.throwsAsync(sortSo(sorter, { in: from, out }, { signal: controller.signal, onProgress }), {
        instanceOf: AbortedError,
      });
      t.is(readFileSync(out, 'utf8'), 'as it was');
    }
    const { fill, fillFrom } = DeviceArray.prototype;
    DeviceArray.prototype.fill = async function (this: DeviceArray, ...args) {
      writeFileSync(from, 'cut');
      return fill.apply(this, args);
    };
    DeviceArray.prototype.fillFrom = async function (this: DeviceArray, ...args) {
      writeFileSync(from, 'cut');
      return fillFrom.apply(this, args);
    };
    try {
      await t.throwsAsync(sortSo(sorter, { in: from, out }), {
        instanceOf: IoError,
        message: /was truncated/,
      });
    } finally {
      Object.assign(DeviceArray.prototype, { fill, fillFrom });
    }
    t.is(readFileSync(out, 'utf8'), 'as it was');
    t.is(sorter.memory().used, 0);
    t.deepEqual(left(), []);
  });

  test.serial(
    title('with dedicated device memory, files are sorted on the device for any host memory limit'),
    async (t) => {
      const sorter = await open();
      const keys = generate({ dtype: 'u32', count: 2 ** 22 + 5, distribution: 'uniform', seed: 4 });
      const [from, out] = [path('large.u32'), path('large-sorted.u32')];
      writeFileSync(from, keys);
      t.false(sorter.hasDedicatedMemory, 'it shares the memory of the host');
      Object.defineProperty(sorter, 'hasDedicatedMemory', { value: true, configurable: true });
      try {
        const report = await sortFile(sorter, { in: from, out, memory: 2 ** 20 }, nowhere);
        t.is(report.external, undefined);
      } finally {
        Reflect.deleteProperty(sorter, 'hasDedicatedMemory');
      }
      const sorted = new Uint32Array(keys.slice().buffer).sort();
      t.true(Buffer.from(sorted.buffer).equals(readFileSync(out)));
    },
  );
}
