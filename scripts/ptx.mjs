// Processes PTX as text: target cards, declared shared memory, and messages of ptxas.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Largest fixed-size shared memory that ptxas accepts on any card, in bytes. */
const MAX_STATIC = 48 * 1024;

const SHARED = /^(\s*(?:\.visible\s+|\.weak\s+)?\.shared\s+\.align\s+\d+\s+\.b8\s+)([\w$]+)\[(\d+)\];/gm;

/** First version of PTX that supports cards from sm_89 on. */
const NEW_CARDS = 7.8;

/**
 * Returns the PTX for another card.
 *
 * @throws Error when it has no target
 */
export function retargeted(ptx, target) {
  if (!/^\.target\s+\w+/m.test(ptx)) throw new Error('no .target in it: is this PTX?');
  const isNew = Number(/^sm_(\d+)/.exec(target)?.[1] ?? 0) >= 89;
  return ptx
    .replace(/^(\.version\s+)([\d.]+)/m, (line, before, version) =>
      isNew && Number(version) < NEW_CARDS ? `${before}${NEW_CARDS}` : line,
    )
    .replace(/^(\.target\s+)\w+/m, `$1${target}`);
}

/** Returns the text of each kernel by name, and the text before the first kernel. */
function kernelsOf(ptx) {
  const starts = [...ptx.matchAll(/^\s*(?:\.visible\s+)?\.entry\s+([\w$]+)/gm)];
  const texts = starts.map(({ index }, i) => ptx.slice(index, starts[i + 1]?.index));
  return {
    head: ptx.slice(0, starts[0]?.index),
    kernels: new Map(starts.map(([, name], i) => [name, texts[i]])),
  };
}

/**
 * Returns the bytes of shared memory that each kernel declares. Declarations outside of kernels, where compilers put
 * them, count for the kernels that name them.
 */
export function sharedBytes(ptx) {
  const { head, kernels } = kernelsOf(ptx);
  const outside = [...head.matchAll(SHARED)].map(([, , name, bytes]) => ({ name, bytes: Number(bytes) }));
  const bytes = {};
  for (const [kernel, text] of kernels) {
    const own = [...text.matchAll(SHARED)].reduce((sum, [, , , size]) => sum + Number(size), 0);
    const named = outside.filter(({ name }) => text.includes(name));
    bytes[kernel] = own + named.reduce((sum, one) => sum + one.bytes, 0);
  }
  return bytes;
}

/** Returns the PTX with arrays small enough for ptxas, to check everything except sizes. */
export function withSharedCutDown(ptx) {
  const arrays = [...ptx.matchAll(SHARED)].length || 1;
  const most = Math.floor(MAX_STATIC / arrays / 1024) * 1024;
  return ptx.replace(SHARED, (line, before, name, bytes) =>
    Number(bytes) > most ? `${before}${name}[${most}];` : line,
  );
}

/** Parses the output of ptxas -v: the resources of each kernel, and errors. */
export function parsePtxas(output) {
  const kernels = [];
  const errors = [];
  for (const line of output.split('\n')) {
    const name = /Compiling entry function '([^']+)'/.exec(line)?.[1];
    if (name !== undefined) kernels.push({ name, registers: 0, spilledBytes: 0 });
    const kernel = kernels.at(-1);
    const spilled = /(\d+) bytes stack frame, (\d+) bytes spill stores/.exec(line);
    if (spilled && kernel) kernel.spilledBytes = Number(spilled[2]);
    const registers = /Used (\d+) registers/.exec(line)?.[1];
    if (registers !== undefined && kernel) kernel.registers = Number(registers);
    const wrong = /\b(?:error|fatal)\s*:\s*(.*)$/.exec(line)?.[1];
    if (wrong !== undefined && !/aborted due to errors/.test(wrong)) errors.push(wrong.trim());
  }
  return { kernels, errors: [...new Set(errors)] };
}

/** Returns the path of ptxas; undefined when it is not installed. */
export function findPtxas() {
  const places = ['ptxas', '/usr/local/cuda/bin/ptxas'];
  return places.find((place) => spawnSync(place, ['--version'], { stdio: 'ignore' }).status === 0);
}

/**
 * Assembles PTX for a card, with reduced shared memory.
 *
 * @returns the result of `parsePtxas`, with the bytes of shared memory that each kernel declares
 */
export function assembled(ptxas, ptx, target, registers = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-ptx-'));
  try {
    const file = join(folder, 'program.ptx');
    writeFileSync(file, withSharedCutDown(retargeted(ptx, target)));
    const limit = registers > 0 ? [`--maxrregcount=${registers}`] : [];
    const made = spawnSync(ptxas, ['-v', `-arch=${target}`, ...limit, '-o', '/dev/null', file], {
      encoding: 'utf8',
    });
    const { kernels, errors } = parsePtxas(`${made.stdout}${made.stderr}`);
    if (made.status !== 0 && errors.length === 0)
      errors.push(`ptxas ended with ${made.signal ?? made.status}`);
    const bytes = sharedBytes(ptx);
    return { kernels: kernels.map((kernel) => ({ ...kernel, localBytes: bytes[kernel.name] ?? 0 })), errors };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
