/** Explains split radix sort digit by digit. */
import { splitRadix } from '../algorithms/split-radix.js';
import { costOf, firstOf, sideBySide } from './cost.js';
import { checkMove, digitBits, digitTitle } from './digits.js';
import { agree, line, type Step } from './explanation.js';
import { binary, record, startOf, texts, windowOf } from './record.js';
import { splitModel } from './split-model.js';
import type { View } from './view.js';

const KERNELS = ['split_count', 'split_scan', 'split_offset', 'split_move'];
const GROUP = 256;

export const explainSplit: View = async (device, subject, { radixBits = 1 }) => {
  const recording = await record(device, splitRadix, subject, { radixBits });
  const bins = 2 ** radixBits;
  let before = startOf(subject);
  const steps = Array.from({ length: recording.passes }, (_, pass): Step => {
    const bits = digitBits(subject, pass, radixBits);
    const digits = before.codes.map((code) => Number(windowOf(code, bits)));
    const model = splitModel(digits, bins);
    const histogram = agree('histogram', recording.words(pass, 'split_scan', 'histogram'), model.histogram);
    const prefix = agree('prefix', recording.words(pass, 'split_scan', 'prefix'), model.prefix);
    const offsets = agree('offsets', recording.words(pass, 'split_offset', 'offsets'), model.offsets);
    const places = agree('new index', recording.words(pass, 'split_move', 'places'), model.places);
    const after = checkMove(recording, { pass, kernel: 'split_move', places }, before);
    const [from, to] = [texts(before.codes, subject), texts(after.codes, subject)];
    const [zeros = 0] = histogram;
    // For one-bit digits, the scan s counts the ones before a key: a one's offset, or i minus a zero's offset.
    const ones = offsets.map((offset, i) => (digits[i] === 0 ? i - offset : offset));
    const split = [
      line('scan s of the bits', ones),
      line(
        'zeros: i - s',
        ones.map((s, i) => (digits[i] === 0 ? i - s : '-')),
      ),
      line(
        `ones: ${zeros} + s`,
        ones.map((s, i) => (digits[i] === 0 ? '-' : zeros + s)),
      ),
    ];
    const lines = [
      line('keys', from),
      line(
        'binary',
        before.codes.map((code) => binary(code, subject.bits)),
      ),
      line(radixBits === 1 ? 'bit' : 'digit', digits),
      line('bin', [...histogram.keys()]),
      line('histogram', histogram),
      line('exclusive prefix sum', prefix),
      line('offset', offsets),
      ...(radixBits === 1 && bits[1] > bits[0] ? split : []),
      line('new index', places),
      line('moved', to),
    ];
    before = after;
    const n = digits.length;
    const items = Math.ceil(n / GROUP) * GROUP;
    const { bytes } = subject.info;
    const cost = costOf({
      active: firstOf(n, items),
      global: [
        { access: sideBySide(n, items), bytes },
        { access: places, bytes },
      ],
      kernelSeconds: recording.seconds(pass),
    });
    return {
      ...{ title: digitTitle(pass, bits), kernels: KERNELS, lines, before: from, after: to },
      note:
        radixBits === 1
          ? 'Keys with a zero move in front of keys with a one, and keep their order among themselves.'
          : 'Each key goes behind all keys with a smaller digit and those with the same digit before it.',
      newIndex: places,
      cost,
      source: { file: 'split_radix.cl', name: 'split_move', containing: ['place'] },
    };
  });
  return { steps };
};
