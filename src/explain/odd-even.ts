/** Explains odd-even transposition sort phase by phase. */
import { oddEven } from '../algorithms/odd-even.js';
import { explainNetwork } from './network.js';
import { oddEvenNetwork } from './network-model.js';
import { record } from './record.js';
import type { View } from './view.js';

export const explainOddEven: View = async (device, subject) => {
  const n = subject.patterns.length;
  const recording = await record(device, oddEven, subject, {});
  return {
    steps: explainNetwork(subject, {
      kernel: 'odd_even_phase',
      source: { file: 'odd_even.cl', name: 'odd_even_phase', containing: ['swap'] },
      note: 'Neighbours that are out of order change places; only neighbours do, so equal keys keep their order.',
      ties: false,
      items: Math.ceil(n / 2),
      steps: oddEvenNetwork(n),
      after: (phase) => ({ ...recording.after(phase, 'odd_even_phase'), seconds: recording.seconds(phase) }),
    }),
  };
};
