import test from 'ava';
import { readByteRate, readBytes, readNetworkRate } from '../../../src/engines/forecast/quantity.js';

const wrong = { code: 'ERR_CLSORT_USAGE' };

test('sizes have decimal units, or binary units with an i', (t) => {
  t.is(readBytes('100T', '--size'), 1e14);
  t.is(readBytes('1.5TB', '--size'), 1.5e12);
  t.is(readBytes('64GiB', '--size'), 2 ** 36);
  t.is(readBytes('512Mi', '--size'), 2 ** 29);
  t.is(readBytes('1000', '--size'), 1000);
  t.is(readBytes('1e9', '--size'), 1e9);
  for (const text of ['', '0', '-1', '10X', 'T', '1 2', '100Tb/s', '20P', '1e400', '10G/s', 'NaN']) {
    t.throws(() => readBytes(text, '--size'), {
      ...wrong,
      message: /^expected a size such as 100T .* for --size but got "/s,
    });
  }
});

test('disk rates default to bytes and network rates to bits, and both accept either unit', (t) => {
  t.is(readByteRate('20G/s', '--disk'), 20e9);
  t.is(readByteRate('500MB/s', '--disk'), 5e8);
  t.is(readByteRate('160Gbit/s', '--disk'), 20e9);
  t.is(readNetworkRate('400G', '--network'), 50e9);
  t.is(readNetworkRate('400Gbit/s', '--network'), 50e9);
  t.is(readNetworkRate('100Gbps', '--network'), 12.5e9);
  t.is(readNetworkRate('50GB/s', '--network'), 50e9);
  for (const text of ['20G', '20', 'fast', '0G/s', '20G/m']) {
    t.throws(() => readByteRate(text, '--disk'), {
      ...wrong,
      message: /expected bytes per second .* for --disk but got/,
    });
  }
  for (const text of ['400G/s', 'x', '-400G', '0']) {
    t.throws(() => readNetworkRate(text, '--network'), {
      ...wrong,
      message: /expected bits per second .* for --network but got/,
    });
  }
});
