import test from 'ava';
import { hybridRadix } from '../../src/algorithms/hybrid-radix.js';
import { type TuneCase, variedParameters } from '../../src/bench/tune.js';
import { CaseBench, currentTuning, fitTuning } from '../../src/bench/tune-device.js';
import { forEachDevice } from '../each-device.js';

const CASE: TuneCase = { algorithm: 'single-workgroup', which: { keyBits: 32, valueBytes: 4 }, n: 512 };

const WIDE: TuneCase = { algorithm: 'hybrid-radix', which: { keyBits: 64, valueBytes: 0 }, n: 3000 };

forEachDevice((title, open) => {
  test.serial(
    title('parameters of wide are tried on keys with equal prefixes and on random keys'),
    async (t) => {
      const device = await open();
      const isThere = hybridRadix.available(device, { keyBits: 64, valueBytes: 0 });
      const bench = await CaseBench.open(device, WIDE);
      try {
        const present = currentTuning(device, WIDE);
        const own = variedParameters(WIDE, fitTuning(device, WIDE, present));
        if (isThere !== true) {
          t.deepEqual(await bench.attempt(own), { result: 'unsupported', reason: isThere });
          return;
        }
        t.is((await bench.attempt(own)).result, 'ok');
        // The smallest tiles, with large buckets and a small sample.
        const others = {
          finishSize: 64,
          finishKeys: 2,
          bucket: 256,
          sample: 2048,
          crowd: 4,
          minDigits: 2,
        };
        t.is((await bench.attempt({ ...own, ...others })).result, 'ok');
        t.is(await bench.selfTest({ ...own, ...others }), undefined);
      } finally {
        bench.close();
      }
    },
  );

  test.serial(
    title('a search starts from parameters that fit the device and compiles none that do not fit'),
    async (t) => {
      const device = await open();
      const present = currentTuning(device, CASE);
      t.deepEqual(fitTuning(device, CASE, present), present);
      const large = { ...present, keysPerItem: 4096 };
      const smaller = fitTuning(device, CASE, large);
      t.true(Number(smaller.keysPerItem) < 4096, 'a tile has at most 2^16 keys');
      t.deepEqual(fitTuning(device, CASE, smaller), smaller);
      const bench = await CaseBench.open(device, CASE);
      try {
        const programs = device.program.bind(device);
        let built = 0;
        device.program = (...args) => {
          built++;
          return programs(...args);
        };
        const tried = await bench.attempt(large);
        t.is(tried.result, 'unsupported');
        t.regex(tried.result === 'unsupported' ? tried.reason : '', /room for keysPerItem \d+ only/);
        t.is(built, 0, 'nothing is compiled for it');
        t.is((await bench.attempt(present)).result, 'ok');
        t.true(built > 0);
      } finally {
        bench.close();
      }
    },
  );
});
