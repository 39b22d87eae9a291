import test from 'ava';
import { lastSaid } from '../../src/batch/lane.js';

test('of what a process said in the end the line is told that tells why', (t) => {
  const { stack } = new Error('too many open files');
  t.is(lastSaid(`something before\n${stack}\n\nNode.js v20.20.2\n`), 'Error: too many open files');
  t.is(lastSaid('terminate called after throwing\n  what():  bad\n'), '  what():  bad');
  t.is(lastSaid(''), '');
});
