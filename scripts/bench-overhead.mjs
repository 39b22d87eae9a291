#!/usr/bin/env node
// Measures the overhead of the binding: enqueuing an empty kernel and a blocking read of 4 bytes from JavaScript,
// compared with the same calls in C. Prints nanoseconds and ratios; fails above 1.5.
//
//   node scripts/bench-overhead.mjs [part of the platform's name]
//
// Needs `npm run build`, the addon, a C compiler and libOpenCL. Both sides alternate and the best round of each counts,
// since the driver's threads make single rounds uneven.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as cl from '../dist/src/opencl/index.js';

const LIMIT = 1.5;
const TURNS = 5;
const ROUNDS = 15;
const CALLS = 500;
const part = process.argv[2] ?? 'Portable Computing Language';

function inC(program) {
  return JSON.parse(execFileSync(program, [part], { encoding: 'utf8' }));
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

function perCall(call) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < CALLS; i++) call();
  return Number(process.hrtime.bigint() - start) / CALLS;
}

function inJavaScript() {
  const platform = cl
    .getPlatformIDs()
    .find((candidate) => cl.getPlatformInfo(candidate, cl.PLATFORM_NAME).includes(part));
  const [device] = cl.getDeviceIDs(platform);
  const context = cl.createContext([cl.CONTEXT_PLATFORM, platform], [device]);
  const queue = cl.createCommandQueue(context, device, 0);
  const program = cl.createProgramWithSource(context, 'kernel void nothing() {}');
  cl.buildProgram(program, [device]);
  const kernel = cl.createKernel(program, 'nothing');
  const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4);
  const host = new Uint8Array(4);
  const global = [1];
  const enqueue = [];
  const read = [];
  for (let round = 0; round < ROUNDS; round++) {
    enqueue.push(perCall(() => cl.enqueueNDRangeKernel(queue, kernel, 1, null, global, null)));
    cl.finish(queue);
    read.push(perCall(() => cl.enqueueReadBuffer(queue, buffer, true, 0, 4, host)));
  }
  return { enqueue: median(enqueue), read: median(read) };
}

const folder = mkdtempSync(join(tmpdir(), 'clsort-overhead-'));
try {
  const program = join(folder, 'overhead');
  const source = fileURLToPath(new URL('bench-overhead.c', import.meta.url));
  execFileSync('cc', ['-O2', '-w', source, '-o', program, '-l:libOpenCL.so.1']);
  const best = { c: { enqueue: Infinity, read: Infinity }, js: { enqueue: Infinity, read: Infinity } };
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [side, measured] of [
      ['c', inC(program)],
      ['js', inJavaScript()],
    ]) {
      for (const what of ['enqueue', 'read']) best[side][what] = Math.min(best[side][what], measured[what]);
    }
  }
  for (const what of ['enqueue', 'read']) {
    const ratio = best.js[what] / best.c[what];
    console.log(
      `${what}: ${best.js[what].toFixed(0)} ns from JavaScript, ${best.c[what].toFixed(0)} ns in C, ratio ${ratio.toFixed(2)}`,
    );
    if (ratio > LIMIT) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
