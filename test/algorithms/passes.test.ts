import test from 'ava';
import type { SortWork } from '../../src/algorithms/algorithm.js';
import {
  alternateBytes,
  alternatingPasses,
  carriesValues,
  onlyPass,
  type Pass,
  passBuffers,
  passInPlace,
  passOutputs,
  pingPong,
} from '../../src/algorithms/passes.js';
import type { Buffer } from '../../src/device/memory/buffer.js';
import type { Queue } from '../../src/device/queue/queue.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { UsageError } from '../../src/util/errors.js';

const names = (passes: number, input: string, output: string) => {
  const { copyFirst, steps } = pingPong(passes, { input, output, alternate: 'alt' });
  return `${copyFirst ? 'copy ' : ''}${steps.map(({ from, to }) => `${from}>${to}`).join(' ')}`;
};

test('the last pass writes the output and the input is only read', (t) => {
  t.is(names(1, 'in', 'out'), 'in>out');
  t.is(names(2, 'in', 'out'), 'in>alt alt>out');
  t.is(names(3, 'in', 'out'), 'in>out out>alt alt>out');
  t.is(names(4, 'in', 'out'), 'in>alt alt>out out>alt alt>out');
});

test('an in-place sort with an odd number of passes starts from a copy', (t) => {
  t.is(names(2, 'x', 'x'), 'x>alt alt>x');
  t.is(names(3, 'x', 'x'), 'copy alt>x x>alt alt>x');
});

/** Buffers that have only a name. */
const [input, output, values, moved, alternateKeys, alternateValues] = [
  'in',
  'out',
  'values',
  'moved',
  'alternate',
  'alternate values',
].map((name) => name as unknown as Buffer) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];

const PAIRS = { keyBits: 32, valueBytes: 4 } as const;
const KEYS = { keyBits: 32, valueBytes: 0 } as const;
const WORK: SortWork = {
  n: 10,
  input,
  output,
  inputValues: values,
  outputValues: moved,
  codec: keyCodec('i32'),
  bits: [0, 32],
  scratch: { alternateKeys, alternateValues },
};

/** Passes, and the copies enqueued before them. */
function planPasses(count: number, work: SortWork, shape: typeof PAIRS | typeof KEYS = PAIRS) {
  const copies: string[] = [];
  const copy = (from: Buffer, to: Buffer, { bytes }: { bytes: number }) =>
    copies.push(`${from}>${to} ${bytes}`);
  const passes = alternatingPasses({ copy } as unknown as Queue, shape, count, work);
  return { copies, passes: passes.map((pass) => `${passBuffers(pass).join()} ${pass.flags}`) };
}

/** Flags as cl/pass.clh has them. */
const [ENCODE, DECODE, POSITIONS, FIRST] = [1, 2, 4, 8] as const;

test('values travel with their keys, the first pass encodes and the last pass decodes', (t) => {
  t.deepEqual(planPasses(3, WORK), {
    copies: [],
    passes: [
      `in,out,values,moved ${ENCODE | FIRST}`,
      'out,alternate,moved,alternate values 0',
      `alternate,out,alternate values,moved ${DECODE}`,
    ],
  });
  t.deepEqual(planPasses(1, WORK, KEYS).passes, [`in,out ${ENCODE | FIRST | DECODE}`]);
});

test('ascending unsigned keys are neither encoded nor decoded, and the first pass writes the positions', (t) => {
  const { inputValues: _, ...rest } = WORK;
  const { passes } = planPasses(2, { ...rest, codec: keyCodec('u32'), indices: true });
  t.deepEqual(passes, [
    `in,alternate,moved,alternate values ${POSITIONS | FIRST}`,
    'alternate,out,alternate values,moved 0',
  ]);
});

test('an in-place sort with an odd number of passes copies keys and values but not positions', (t) => {
  const inPlace = { ...WORK, output: input, outputValues: values };
  t.deepEqual(planPasses(1, inPlace).copies, ['in>alternate 40', 'values>alternate values 40']);
  t.deepEqual(planPasses(1, { ...inPlace, indices: true }).copies, ['in>alternate 40']);
  t.deepEqual(planPasses(2, inPlace).copies, []);
  t.deepEqual(alternateBytes(PAIRS, 10, 1, true), { alternateKeys: 40, alternateValues: 40 });
  t.deepEqual(alternateBytes(KEYS, 10, 2, false), { alternateKeys: 40 });
  t.deepEqual(alternateBytes(KEYS, 10, 1, false), {});
});

test('only the first of several in-place passes reads the input', (t) => {
  const text = (pass: Pass) => `${passBuffers(pass).join()} ${pass.flags}`;
  const at = (first: boolean, last: boolean) => text(passInPlace(PAIRS, WORK, { first, last }));
  t.is(at(true, false), `in,out,values,moved ${ENCODE | FIRST}`);
  t.is(at(false, false), 'out,out,moved,moved 0');
  t.is(at(false, true), `out,out,moved,moved ${DECODE}`);
  t.is(text(onlyPass(PAIRS, WORK)), at(true, true));
  t.deepEqual(passOutputs(onlyPass(PAIRS, WORK)), { keys: output, values: moved });
  t.deepEqual(passOutputs(onlyPass(KEYS, WORK)), { keys: output });
});

test('a missing buffer raises a UsageError that names it', (t) => {
  const { outputValues: _, ...keysOnly } = WORK;
  t.throws(() => planPasses(1, keysOnly), {
    instanceOf: UsageError,
    message: /for outputValues but got undefined/,
  });
  t.throws(() => onlyPass(PAIRS, keysOnly), {
    instanceOf: UsageError,
    message: /for outputValues but got undefined/,
  });
  t.throws(() => planPasses(1, { ...WORK, output: input, scratch: {} }), {
    instanceOf: UsageError,
    message: /for scratch.alternateKeys but got undefined/,
  });
});

test('passes carry values of 0, 1, 2, 4, 8 and 16 bytes and report other widths', (t) => {
  for (const valueBytes of [0, 1, 2, 4, 8, 16]) t.true(carriesValues({ keyBits: 8, valueBytes }));
  t.regex(String(carriesValues({ keyBits: 8, valueBytes: 12 })), /values of 12 bytes/);
  t.regex(String(carriesValues({ keyBits: 8, valueBytes: 16 }, 8)), /values of 16 bytes/);
});
