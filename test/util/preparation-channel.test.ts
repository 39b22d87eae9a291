/** Messages of the diagnostics channel `clsort:preparation`. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import test from 'ava';
import type { PreparationMessage } from '../../src/index.js';
import { publishPreparation } from '../../src/util/preparation-channel.js';

test.serial('a step publishes its message when it ends, also if it fails', async (t) => {
  const messages: PreparationMessage[] = [];
  const listen = (message: unknown): void => void messages.push(message as PreparationMessage);
  subscribe('clsort:preparation', listen);
  try {
    t.is(await publishPreparation('build', 'cl/scan.cl', async () => 7), 7);
    const failing = publishPreparation('self-test', 'scan', () => Promise.reject(new Error('wrong keys')));
    await t.throwsAsync(failing, { message: 'wrong keys' });
  } finally {
    unsubscribe('clsort:preparation', listen);
  }
  t.deepEqual(
    messages.map(({ step, subject }) => [step, subject]),
    [
      ['build', 'cl/scan.cl'],
      ['self-test', 'scan'],
    ],
  );
  t.true(messages.every(({ seconds }) => seconds >= 0 && seconds < 60));
});
