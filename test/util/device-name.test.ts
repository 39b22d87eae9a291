import test from 'ava';
import { deviceName } from '../../src/util/device-name.js';

test('devices have the names that people use', (t) => {
  const names = [
    ['NVIDIA H200', 'NVIDIA H200'],
    ['NVIDIA H100 80GB HBM3', 'NVIDIA H100'],
    ['pthread-skylake-avx512-AMD EPYC', 'AMD EPYC (PoCL)'],
    ['cpu-haswell-AMD EPYC 7763 64-Core Processor', 'AMD EPYC 7763 64-Core (PoCL)'],
    ['Intel(R) Core(TM) i7-1185G7 CPU', 'Intel Core i7-1185G7'],
    ['gfx1100', 'gfx1100'],
  ] as const;
  for (const [name, expected] of names) t.is(deviceName(name), expected);
});

test('the number of cores is part of the name of a CPU', (t) => {
  const name = 'pthread-skylake-avx512-Intel(R) Xeon(R) Processor';
  t.is(deviceName(name, 2), 'Intel Xeon, 2 cores (PoCL)');
  t.is(deviceName(name, 1), 'Intel Xeon, 1 core (PoCL)');
  t.is(deviceName('NVIDIA H200', 2), 'NVIDIA H200');
});
