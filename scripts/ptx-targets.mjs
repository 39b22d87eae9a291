#!/usr/bin/env node
// Builds the programs of clsort with the driver of an NVIDIA device, and assembles their PTX for other cards with ptxas
// (from the CUDA toolkit):
//
//   node scripts/ptx-targets.mjs [--most N] [--seed N] [--all] [--device NAME]
//
// Reports cards that lack an instruction, and kernels that declare more local memory than a work-group has on a card.
// ptxas accepts fixed sizes up to 48 KiB only, whatever the card: sizes are compared here and reduced before ptxas
// runs. The PTX of a tile tuned for a large card does not fit a small one, where it would be built smaller. Therefore
// only a missing instruction is a failure; excessive sizes are listed as cards that need separate parameters. Needs
// `npm run build`.

import { parseArgs } from 'node:util';
import { drawn } from './compile-vendors.mjs';
import { assembled, findPtxas } from './ptx.mjs';

const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'NVIDIA' },
    most: { type: 'string', default: '48' },
    seed: { type: 'string', default: '1000' },
    all: { type: 'boolean', default: false },
  },
});

/** Returns the PTX of a program, which is its binary in NVIDIA's driver. */
async function ptxOf(cl, device, { source, options }) {
  const program = cl.createProgramWithSource(device.context, source);
  try {
    await cl.buildProgramAsync(program, [device.handle], options);
    const [binary] = cl.getProgramInfo(program, cl.PROGRAM_BINARIES);
    return Buffer.from(binary).toString('latin1').replaceAll('\0', '');
  } finally {
    cl.releaseAsync(program);
  }
}

async function main() {
  const ptxas = findPtxas();
  if (!ptxas) {
    console.error('ptxas is not there: install the CUDA toolkit');
    return 2;
  }
  process.env.CLSORT_TUNING = 'off';
  const cl = await import('../dist/src/opencl/index.js');
  const { Device } = await import('../dist/src/device/device.js');
  const { variantsOf } = await import('../dist/scripts/variants.js');
  const { CARDS } = await import('../dist/scripts/vendors.js');
  const device = await Device.open(values.device);
  const all = await variantsOf(device);
  const chosen = drawn(all, values.all ? Number.POSITIVE_INFINITY : Number(values.most), Number(values.seed));
  const cards = CARDS.map((card) => ({
    ...card,
    registers: 0,
    spilledBytes: 0,
    tooLarge: new Set(),
    errors: 0,
  }));
  for (const variant of chosen) {
    const ptx = await ptxOf(cl, device, variant);
    const registers = Number(/-cl-nv-maxrregcount=(\d+)/.exec(variant.options)?.[1] ?? 0);
    for (const card of cards) {
      const { kernels, errors } = assembled(ptxas, ptx, card.target, registers);
      for (const error of errors) {
        card.errors++;
        console.log(`FAILED: cl/${variant.file} for ${card.target} (${variant.options}): ${error}`);
      }
      for (const kernel of kernels) {
        card.registers = Math.max(card.registers, kernel.registers);
        card.spilledBytes = Math.max(card.spilledBytes, kernel.spilledBytes);
        if (kernel.localBytes > card.localBytes) card.tooLarge.add(`${kernel.name} (${kernel.localBytes})`);
      }
    }
  }
  for (const { target, registers, spilledBytes, tooLarge, localBytes, errors } of cards) {
    console.log(
      `${target}: ${chosen.length} of ${all.length} programs, ${errors} that it cannot run, at most ${registers} registers, ` +
        `${spilledBytes} bytes spilled`,
    );
    if (tooLarge.size > 0)
      console.log(`  more local memory than its ${localBytes} bytes: ${[...tooLarge].join(', ')}`);
  }
  await device.close();
  return cards.some(({ errors }) => errors > 0) ? 1 : 0;
}

process.exitCode = await main();
