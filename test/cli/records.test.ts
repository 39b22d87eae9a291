import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { parseArguments } from '../../src/cli/parse.js';
import { specNamed } from '../../src/cli/specs.js';
import { parseRecordKey } from '../../src/io/records/record-keys.js';
import { Random } from '../../src/util/random.js';
import { referencePositions } from '../io/record-reference.js';
import { pick } from '../reference.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes

const { path, remove } = scratchFolder();
ava.after.always(remove);

const record = 24;
const bytes = new Random(6).bytes(record * 2000).map((byte, i) => (i % record < 4 ? byte & 1 : byte));
writeFileSync(path('in.dat'), bytes);
const LAYOUT = ['--record', String(record), '--key', '0:4', '--key', '16:u64be:desc'];
const keys = ['0:4', '16:u64be:desc'].map(parseRecordKey);
const positions = referencePositions(bytes, record, keys);
const sorted = Buffer.from(pick(bytes, record, positions));

for (const device of ['host', 'cpu']) {
  test(`device ${device} sorts records by two keys and reports the verification`, async (t) => {
    const out = path(`${device}.dat`);
    const how = ['--device', device, '--verify', '--report'];
    const ran = await clsort(['sort', path('in.dat'), '-o', out, ...LAYOUT, ...how]);
    t.is(ran.code, 0, ran.err);
    t.true(readFileSync(out).equals(sorted));
    t.regex(ran.out, /^sorted 2,000 records of 24 bytes, by 0:4, 16:u64be:desc$/m);
    t.is(ran.out.trim().split('\n').at(-1), 'verified: order right, permutation right');
  });
}

test('--argsort writes the positions of records from a pipe, with a JSON report', async (t) => {
  const args = ['sort', '-', '-o', path('order.u32'), ...LAYOUT, '--device', 'host', '--argsort', '--json'];
  const ran = await clsort(args, { input: bytes });
  t.is(ran.code, 0, ran.err);
  const written = readFileSync(path('order.u32'));
  t.deepEqual([...new Uint32Array(written.buffer, written.byteOffset, written.length / 4)], positions);
  const report = JSON.parse(ran.out);
  t.like(report, { schema: 'clsort.sort/1', n: 2000, dtype: null, argsort: true });
  t.deepEqual(report.records, { record, keys: ['0:4', '16:u64be:desc'] });
});

test('check reports order and permutation of records and ends with 1 on failure', async (t) => {
  writeFileSync(path('sorted.dat'), sorted);
  const right = await clsort(['check', path('sorted.dat'), ...LAYOUT, '--against', path('in.dat')]);
  t.is(right.code, 0, right.err);
  t.regex(right.out, /2,000 records of 24 bytes.*\norder: right\npermutation: right/);
  const wrong = await clsort(['check', '-', ...LAYOUT, '--json'], { input: bytes });
  t.is(wrong.code, 1);
  const descent = sorted.equals(bytes) ? undefined : JSON.parse(wrong.out).firstOutOfOrder.at;
  const cut = bytes.subarray(0, (descent + 1) * record);
  t.notDeepEqual(referencePositions(cut, record, keys), [...Array(descent + 1).keys()]);
  const before = bytes.subarray(0, descent * record);
  t.deepEqual(referencePositions(before, record, keys), [...Array(descent).keys()]);
  const changed = Buffer.from(sorted);
  changed[8] = (changed[8] ?? 0) ^ 1; // beside the keys
  const other = await clsort(['check', '-', ...LAYOUT, '--against', path('in.dat')], { input: changed });
  t.is(other.code, 1);
  t.regex(other.out, /order: right\npermutation: WRONG/);
});

test('--nan places NaN keys of records first or last', async (t) => {
  const input = new Uint8Array(Float32Array.of(1, Number.NaN, -1).buffer);
  const run = (nan: string) =>
    clsort(['sort', '-', '-o', '-', '--record', '4', '--key', '0:f32', '--nan', nan, '--device', 'host'], {
      input,
    });
  const floats = ({ stdout }: { stdout: Buffer }) => [...new Float32Array(Uint8Array.from(stdout).buffer)];
  t.deepEqual(floats(await run('last')), [-1, 1, Number.NaN]);
  t.deepEqual(floats(await run('first')), [Number.NaN, -1, 1]);
});

const refused = (title: string, args: readonly string[], code: number, message: RegExp) =>
  test(`refuses ${title}`, async (t) => {
    const ran = await clsort(['sort', path('in.dat'), '-o', path('not.dat'), ...args]);
    t.is(ran.code, code);
    t.regex(ran.err, message);
    t.false(existsSync(path('not.dat')));
  });

refused(
  'a key beyond the record',
  ['--record', '24', '--key', '20:u64'],
  2,
  /key 20:u64: it ends at byte 28.*24 bytes/,
);
refused(
  'a file length that is not a multiple of the record',
  ['--record', '7', '--key', '0:1'],
  5,
  /elements of 7 bytes: 1 of its 48000 bytes/,
);
refused('records without a key', ['--record', '24'], 2, /cannot compare records: --key is missing/);
refused('keys without a record', ['--key', '0:4'], 2, /cannot use --key without --record/);
refused('--descending', [...LAYOUT, '--descending'], 2, /--key 0:4:desc/);
refused('--dtype', [...LAYOUT, '--dtype', 'u8'], 2, /cannot combine --dtype and --record/);
refused('--bits', [...LAYOUT, '--bits', '0:8'], 2, /cannot combine --bits and --record/);
refused(
  'a key of an unknown type',
  ['--record', '24', '--key', '0:u33'],
  2,
  /for the type of key 0:u33 but got "u33"/,
);
refused('keys of unknown dtype', [], 2, /the dtype of its keys is unknown\. Pass --dtype/);

test('a batch mixes jobs of records and jobs of keys', async (t) => {
  const jobs = {
    defaults: { dtype: 'u8', descending: true, verify: true, device: 'host' },
    jobs: [
      { in: 'in.dat', out: 'batch.dat', record, keys: ['0:4', '16:u64be:desc'] },
      { in: 'in.dat', out: 'batch.u8' },
    ],
  };
  writeFileSync(path('jobs.json'), JSON.stringify(jobs));
  const ran = await clsort(['batch', path('jobs.json'), '--no-json']);
  t.is(ran.code, 0, ran.err + ran.out);
  t.true(readFileSync(path('batch.dat')).equals(sorted));
  t.deepEqual(readFileSync(path('batch.u8')), Buffer.from(bytes.toSorted().reverse()));
  t.regex(ran.out, /ok +in.dat: 2,000 records of 24 bytes, .*verified/);
});

test('--key may be repeated and stand between other arguments', async (t) => {
  const spec = await specNamed('check');
  const parsed = (...words: string[]) => {
    const { key, file } = parseArguments(spec, words);
    return { key, file };
  };
  t.deepEqual(parsed('--key', '0:1', 'a', '--key=2:u8'), { key: ['0:1', '2:u8'], file: 'a' });
  t.deepEqual(parsed('--key', '0:1', '--', 'a'), { key: ['0:1'], file: 'a' });
  t.deepEqual(parsed('a', '--key', '0:1,1:1'), { key: ['0:1,1:1'], file: 'a' });
  t.deepEqual(parsed('a'), { key: undefined, file: 'a' });
  t.is(parseArguments(spec, ['a', '--dtype', 'u8', '--dtype', 'u16']).dtype, 'u16', 'the last value counts');
});
