/**
 * Explains bitonic sort as a network of wires: the flip form that clsort uses, and the alternating form of the
 * textbooks.
 */
import { bitonic } from '../algorithms/bitonic.js';
import { windowMask } from '../algorithms/comparison.js';
import type { Device } from '../device/device.js';
import { buildFittedProgram, roundUpToGroups } from '../device/fitted-program.js';
import { u64 } from '../device/queue/queue.js';
import { UnsupportedError } from '../util/errors.js';
import { fromBytes, toBytes } from './keys.js';
import { explainNetwork } from './network.js';
import { alternatingNetwork, type Elements, flipNetwork } from './network-model.js';
import { record, type Subject, startOf } from './record.js';
import type { View, ViewResult } from './view.js';

export const explainBitonic: View = (device, subject, { step }) =>
  step === 'alternating' ? explainAlternating(device, subject) : explainFlip(device, subject);

async function explainFlip(device: Device, subject: Subject): Promise<ViewResult> {
  const n = subject.patterns.length;
  const recording = await record(device, bitonic, subject, { network: true });
  return {
    steps: explainNetwork(subject, {
      kernel: 'bitonic_step',
      source: { file: 'bitonic.cl', name: 'bitonic_step', containing: ['lower_of', 'IS_AFTER', '] = key_'] },
      note: 'Every comparator points the same way: its first step meets a block with its own mirror image.',
      ties: true,
      items: Math.ceil(n / 2),
      steps: flipNetwork(n),
      // Pass 0 only encodes the keys, and the last pass only decodes them.
      after: (number) => ({
        ...recording.after(number + 1, 'bitonic_step'),
        seconds: recording.seconds(number + 1),
      }),
    }),
  };
}

async function explainAlternating(device: Device, subject: Subject): Promise<ViewResult> {
  const { info, bits, patterns } = subject;
  const n = patterns.length;
  if (2 ** Math.round(Math.log2(n)) !== n) {
    throw new UnsupportedError(
      `cannot sort ${n} keys in the alternating form: it needs a power of two. Use another number of keys, or --step flip`,
    );
  }
  const { program, groupSize } = await buildFittedProgram(
    device,
    'bitonic_lab.cl',
    ['bitonic_alternating'],
    256,
    (size) => ({ KEY_BITS: info.width, VALUE_BYTES: 4, GROUP_SIZE: size }),
  );
  const steps = alternatingNetwork(n);
  const { codes, ids } = startOf(subject);
  const { queue } = device;
  const [keys, values] = [device.buffer(n * info.bytes), device.buffer(n * 4)];
  const read = steps.map(() => ({ codes: new Uint8Array(n * info.bytes), ids: new Uint32Array(n) }));
  let times: (number | null)[] = [];
  try {
    queue.write(keys, toBytes(codes, info.bytes));
    queue.write(values, Uint32Array.from(ids));
    queue.startProfile();
    for (const [i, { size, stride }] of steps.entries()) {
      const args = [keys, values, u64(n), u64(windowMask(bits)), u64(size), u64(stride)];
      const global = roundUpToGroups(Math.ceil(n / 2), groupSize);
      queue.run(program.kernel('bitonic_alternating'), args, { global, local: groupSize });
      const to = read[i] as (typeof read)[number];
      queue.read(keys, to.codes);
      queue.read(values, to.ids);
    }
    await queue.finish();
    const stages = queue.endProfile().filter(({ stage }) => stage === 'bitonic_alternating');
    times = stages.map(({ seconds }) => seconds);
  } finally {
    for (const buffer of [keys, values]) buffer.release();
  }
  return {
    steps: explainNetwork(subject, {
      kernel: 'bitonic_alternating',
      source: { file: 'bitonic_lab.cl', name: 'bitonic_alternating', containing: ['up', '] = key_'] },
      note: 'Blocks go up and down by turns, so that two neighbours are one bitonic sequence; equal keys may change their order.',
      ties: false,
      items: Math.ceil(n / 2),
      steps,
      after: (number): Elements & { seconds: number | null } => ({
        codes: fromBytes(read[number]?.codes ?? new Uint8Array(), info.bytes),
        ids: [...(read[number]?.ids ?? [])],
        seconds: times[number] ?? null,
      }),
    }),
  };
}
