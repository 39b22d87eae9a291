import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../src/util/paths.js';

/** Positions of 32-bit words in the file that the layer maps: `Control` in layer.cc has the same order. */
const WORD = {
  loaded: 0,
  fail: 1,
  delay: 5,
  corrupt: 9,
  workGroup: 13,
  localBytes: 14,
  allocation: 15,
  nvidiaLocalBytes: 16,
  ownMemory: 17,
  failed: 18,
  misuses: 19,
  misused: 20,
  live: 21,
} as const;
const KINDS = [
  'device',
  'context',
  'queue',
  'memory',
  'sampler',
  'program',
  'kernel',
  'event',
  'svm',
  'commands',
] as const;
/** After the counts of kinds. */
const MAX_LOCAL_BYTES = WORD.live + KINDS.length;
const REFUSED_LOCAL = MAX_LOCAL_BYTES + 1;
const WORDS = REFUSED_LOCAL + 1;
const NAMES_OFFSET = 256;
const FILE_BYTES = 8192;

/** Sources of the layer, relative to the root of the project. */
export const LAYER_SOURCES = ['test/layer/layer.cc', 'src/native/functions.h'] as const;
export const LAYER_OPTIONS = ['-std=c++17', '-O1', '-g', '-shared', '-fPIC', '-pthread', '-w'] as const;

/** The path of the layer that these sources give for a processor architecture. */
export function layerFile(arch: string = process.arch): string {
  const hash = createHash('sha256');
  for (const file of LAYER_SOURCES) hash.update(readFileSync(join(packageRoot, file)));
  return join(packageRoot, '.setup', 'layer', `${hash.digest('hex').slice(0, 16)}-${arch}.so`);
}

/** Builds the layer unless it exists. @returns its file */
export function layerLibrary(): string {
  const library = layerFile();
  if (existsSync(library)) return library;
  mkdirSync(dirname(library), { recursive: true });
  const temporary = `${library}.${process.pid}`; // several test files may build it concurrently
  const source = join(packageRoot, LAYER_SOURCES[0]);
  execFileSync(process.env.CXX ?? 'g++', [...LAYER_OPTIONS, '-o', temporary, source], { stdio: 'inherit' });
  renameSync(temporary, library);
  return library;
}

/** The environment of a process under the layer, which is controlled through `file`. */
export const layerEnvironment = (file: string): NodeJS.ProcessEnv => ({
  OPENCL_LAYERS: layerLibrary(),
  CLSORT_LAYER_CONTROL: file,
});

/** Selects a call: the `at`th, from 1 on, of one function or of all. */
interface Chosen {
  readonly at: number;
  /** C name, such as `clFinish`. */
  readonly function?: string;
}

/** Limits that a device reports instead of its own. */
export interface Spoof {
  readonly workGroup?: number;
  readonly localBytes?: number;
  readonly allocation?: number;
  /** Local memory that the device, which poses as NVIDIA's, reports instead of its larger own. */
  readonly nvidiaLocalBytes?: number;
  /** The device is a GPU with dedicated memory. */
  readonly ownMemory?: boolean;
}

/** Sends commands to the layer, and reads its counters. */
export class LayerControl {
  readonly #file: number;

  /** @param file path of an empty or previously used file */
  constructor(file: string) {
    this.#file = openSync(file, 'r+');
  }

  #write(word: number, ...values: number[]): void {
    writeSync(this.#file, Uint32Array.from(values), 0, values.length * 4, word * 4);
  }

  #read(): Uint32Array {
    const words = new Uint32Array(WORDS);
    readSync(this.#file, words, 0, words.byteLength, 0);
    return words;
  }

  #number(name: string | undefined): number {
    if (name === undefined) return 0;
    const number = this.#names().indexOf(name) + 1;
    if (number === 0) throw new Error(`the layer knows no function '${name}'`);
    return number;
  }

  #names(): string[] {
    const text = new Uint8Array(FILE_BYTES - NAMES_OFFSET);
    const bytes = readSync(this.#file, text, 0, text.length, NAMES_OFFSET);
    return Buffer.from(text.subarray(0, bytes)).toString('latin1').split('\n');
  }

  #name(number: number): string {
    return this.#names()[number - 1] ?? '';
  }

  /** The loader has loaded the layer. */
  get loaded(): boolean {
    return this.#read()[WORD.loaded] === 1;
  }

  /** From now on, selected calls return `status`. */
  fail({ at, function: name }: Chosen, status: number): void {
    this.#write(WORD.fail, this.#number(name), at, status >>> 0, 0);
  }

  /** From now on, selected calls begin with a wait. */
  delay({ at, function: name }: Chosen, milliseconds: number): void {
    this.#write(WORD.delay, this.#number(name), at, milliseconds, 0);
  }

  /** From now on, the `at`th read or map call returns a word with the bits of `mask` inverted. */
  corrupt(at: number, mask: number): void {
    this.#write(WORD.corrupt, 0, at, mask >>> 0, 0);
  }

  spoof({
    workGroup = 0,
    localBytes = 0,
    allocation = 0,
    nvidiaLocalBytes = 0,
    ownMemory = false,
  }: Spoof): void {
    this.#write(WORD.workGroup, workGroup, localBytes, allocation, nvidiaLocalBytes, Number(ownMemory));
  }

  /** Ends all faults, and restarts the count of calls at 0. */
  clear(): void {
    this.#write(WORD.fail, ...Array<number>(12).fill(0));
    this.spoof({});
    this.#write(WORD.failed, 0);
  }

  /** Calls since the last command, and reads and maps among them. */
  get calls(): { all: number; reads: number } {
    const words = this.#read();
    return { all: words[WORD.fail + 3] ?? 0, reads: words[WORD.corrupt + 3] ?? 0 };
  }

  /** Name of the function that failed on purpose; empty when none did. */
  get failed(): string {
    return this.#name(this.#read()[WORD.failed] ?? 0);
  }

  /** Uses of objects without a reference, and the last function called with one. */
  get misuses(): { count: number; last: string } {
    const words = this.#read();
    return { count: words[WORD.misuses] ?? 0, last: this.#name(words[WORD.misused] ?? 0) };
  }

  /** Maximum local memory that a kernel declared under a profile, and how often one declared more than there is. */
  get local(): { maxBytes: number; refused: number } {
    const words = this.#read();
    return { maxBytes: words[MAX_LOCAL_BYTES] ?? 0, refused: words[REFUSED_LOCAL] ?? 0 };
  }

  /** References to live objects, by kinds that have any. */
  get live(): Partial<Record<(typeof KINDS)[number], number>> {
    const words = this.#read();
    const counts = KINDS.map((kind, i) => [kind, words[WORD.live + i] ?? 0] as const);
    return Object.fromEntries(counts.filter(([, count]) => count !== 0));
  }

  /**
   * Waits until `live` is empty or the time is up, since releases take place on threads, and returns `live`.
   *
   * @param ignored kinds that may remain
   */
  async settled(milliseconds = 2000, ignored: readonly string[] = []): Promise<LayerControl['live']> {
    const end = performance.now() + milliseconds;
    const isLeft = () => Object.keys(this.live).some((kind) => !ignored.includes(kind));
    while (isLeft() && performance.now() < end) await sleep(2);
    return this.live;
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Runs a function under the layer; afterwards the layer has seen everything, including the end of the process. */
export async function underLayer<T>(
  use: (env: NodeJS.ProcessEnv) => Promise<T>,
  spoof: Spoof = {},
): Promise<{ result: T; control: LayerControl }> {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-layer-'));
  try {
    const file = join(folder, 'control');
    writeFileSync(file, '');
    const control = new LayerControl(file);
    control.spoof(spoof);
    const result = await use(layerEnvironment(file));
    return { result, control };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
