import test from 'ava';
import { Partitioner } from '../../../src/io/external/partition.js';
import { MemorySpill, type Spill } from '../../../src/io/external/spill.js';
import { Splitters } from '../../../src/io/external/splitters.js';
import { bytesOf } from '../../../src/keys/array.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { IoError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { keysOf } from '../../distributions.js';
import { orderOf, piecesOf, TEN_OF_TWELVE } from './small.js';

/** The expected contents of each partition, by definition. */
function expected(order: typeof TEN_OF_TWELVE, splitters: Splitters, bytes: Uint8Array): Uint8Array[] {
  const n = bytes.length / order.recordBytes;
  const partitions = new Uint16Array(n);
  splitters.place(bytes, partitions, new Uint32Array(splitters.partitions));
  return splitters.single.map((_, p) => {
    const indices = Array.from(partitions.keys()).filter((i) => partitions[i] === p);
    return new Uint8Array(
      Buffer.concat(indices.map((i) => bytes.subarray(i * order.recordBytes, (i + 1) * order.recordBytes))),
    );
  });
}

const ORDERS = [
  ...DTYPES.map((dtype) => orderOf(dtype)),
  TEN_OF_TWELVE,
  { ...TEN_OF_TWELVE, recordBytes: 13 },
];

for (const order of ORDERS) {
  test(`${order.description} of ${order.recordBytes} bytes go to their partitions in input order`, async (t) => {
    const bytes = new Random(5).bytes(order.recordBytes * 3000);
    const whole = order.recordBytes === 13 ? thirteen(order) : order;
    const splitters = Splitters.of(whole, bytes.slice(0, whole.recordBytes * 300), 7);
    const names = splitters.single.map((_, p) => `p${p}`);
    for (const bufferBytes of [0, 100, 2 ** 16]) {
      const spill = new MemorySpill();
      const partitioner = new Partitioner(whole, splitters, {
        spill,
        names,
        buffer: new Uint8Array(bufferBytes),
      });
      for await (const piece of piecesOf(bytes, whole.recordBytes, 701)) await partitioner.add(piece);
      await partitioner.flush();
      for (const [p, wanted] of expected(whole, splitters, bytes).entries()) {
        t.is(partitioner.sizes[p], wanted.length);
        const got = new Uint8Array(wanted.length);
        await spill.read(`p${p}`, 0, got);
        t.deepEqual(got, wanted);
      }
    }
  });
}

/** Records of an odd size, by their first byte. */
const thirteen = (order: typeof TEN_OF_TWELVE): typeof TEN_OF_TWELVE => ({
  ...order,
  exact: true,
  prefix: (piece) => BigUint64Array.from({ length: piece.length / 13 }, (_, i) => BigInt(piece[13 * i] ?? 0)),
});

test('a failed write is thrown, and no write is in flight after settle', async (t) => {
  const order = orderOf('u32');
  const bytes = bytesOf(keysOf('u32', 'uniform', 50_000));
  const splitters = Splitters.of(order, bytes.slice(0, 4000), 4);
  let inFlight = 0;
  const spill: Pick<Spill, 'write'> = {
    async write() {
      inFlight++;
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight--;
      throw new IoError('the disk is full');
    },
  };
  const names = splitters.single.map((_, p) => `p${p}`);
  const to = { spill: spill as Spill, names, buffer: new Uint8Array(4096) };
  const partitioner = new Partitioner(order, splitters, to);
  const pieces = (async function* () {
    yield bytes;
  })();
  await t.throwsAsync(partitioner.addAll(pieces, new AbortController()), {
    instanceOf: IoError,
    message: 'the disk is full',
  });
  t.is(inFlight, 0);
});
