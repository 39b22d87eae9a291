/**
 * What is kept of a sort while it goes on: a folder with the manifest, which says what is sorted and how, a
 * record of each task that is done, and the partitions. Records are written aside and renamed, so that whatever
 * is there is whole; what has no record is done once more.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IoError } from '../../util/errors.js';
import type { StoredProducts } from '../multiset.js';
import { ioError } from '../raw.js';
import { hasOwnerExited, type Owner, thisProcess } from '../temporary-files.js';
import type { InputIdentity } from './input.js';
import type { StoredSplitters } from './splitters.js';

const MANIFEST = 'manifest.json';
const OWNER = 'owner.json';
const VERSION = 1;

/** What a sort is of: a state is gone on with only where all of this is the same. */
export interface Manifest {
  readonly version: number;
  readonly input: InputIdentity;
  /** Bytes of a unit, and the order, in words. */
  readonly unit: number;
  readonly order: string;
  /** Name of the result while it is made, beside the output; undefined where it is not kept. */
  readonly part: string | undefined;
  readonly splitters: StoredSplitters;
  /** The points that checksums are taken at, as decimal numbers; undefined where none are taken. */
  readonly points: readonly string[] | undefined;
  /** The boot of the system that what is not yet on disk is trusted in. */
  readonly boot: string;
}

/** A stretch of the input that is in its partitions: the records of all up to it are needed, too. */
export interface ShardRecord {
  /** Bytes of the input up to its end, and of each partition. */
  readonly end: number;
  readonly sizes: readonly number[];
  readonly products?: StoredProducts | undefined;
}

/** A partition that was split again. */
export interface SplitRecord {
  readonly sizes: readonly number[];
  readonly single: readonly boolean[];
  /** Of each: in how many low bits the prefixes of its units may differ; left out, in all. */
  readonly differing?: readonly number[] | undefined;
}

/** A partition whose units stand where they belong. */
export interface SortedRecord {
  readonly bytes: number;
  /** The first and the last unit, as base64. */
  readonly ends?: readonly [first: string, last: string] | undefined;
  readonly products?: StoredProducts | undefined;
}

/** A state folder that this process works in. */
export class State {
  readonly folder: string;
  #hasBegun = false;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** What is to be found in a folder; undefined where there is no state. @throws IoError when it cannot be read */
  static async find(folder: string): Promise<Manifest | undefined> {
    const text = await readFile(join(folder, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw ioError('read', folder, error);
    });
    if (text === undefined) return undefined;
    const manifest = parseJson(text) as Manifest | undefined;
    if (manifest?.version === VERSION) return manifest;
    throw new IoError(
      `${folder} is no state that this version goes on with: remove it, and the sort begins anew`,
      { details: { path: folder } },
    );
  }

  /**
   * Takes a folder, made if there is none.
   *
   * @throws IoError when another process works in it
   */
  static async open(folder: string): Promise<State> {
    try {
      // The folder around it is not made: a name that is mistyped is told.
      await mkdir(folder).catch((error) => {
        if (error.code !== 'EEXIST') throw error;
      });
      const state = new State(folder);
      const text = await readFile(join(folder, OWNER), 'utf8').catch(() => '');
      const owner = parseJson(text) as Owner | undefined;
      if (owner?.pid && !hasOwnerExited(owner) && !isThisProcess(owner)) {
        throw new IoError(
          `another process (${owner.pid}) is sorting to the same output, with its state in ${folder}`,
          { details: { path: folder, pid: owner.pid } },
        );
      }
      await state.#put(OWNER, thisProcess());
      return state;
    } catch (error) {
      throw ioError('write', folder, error);
    }
  }

  async begin(manifest: Omit<Manifest, 'version'>): Promise<void> {
    await this.#put(MANIFEST, { version: VERSION, ...manifest });
    this.#hasBegun = true;
  }

  /** Has this process begun a sort in it? Until then there is nothing to go on with, unless it was there before. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Records that a task is done. */
  put(task: string, record: ShardRecord | SplitRecord | SortedRecord | Record<string, never>): Promise<void> {
    return this.#put(`${task}.json`, record);
  }

  /** The record of a task, undefined while it has none. */
  async get<R>(task: string): Promise<R | undefined> {
    const text = await readFile(join(this.folder, `${task}.json`), 'utf8').catch(() => '');
    return parseJson(text) as R | undefined;
  }

  /** Is there a record of a task whose name begins so? @throws IoError when the folder is gone */
  async has(prefix: string): Promise<boolean> {
    return (await this.#names()).some((name) => name.startsWith(prefix));
  }

  /** Removes all there is, or leaves only the folder, for a sort that begins anew. @throws IoError */
  async remove({ keepFolder = false } = {}): Promise<void> {
    // The manifest goes first: without it, nothing that is left counts.
    await this.#removeEntry(MANIFEST);
    if (!keepFolder) return this.#removeEntry();
    for (const name of await this.#names()) if (name !== OWNER) await this.#removeEntry(name);
  }

  #names(): Promise<string[]> {
    return readdir(this.folder).catch((error) => {
      throw ioError('read', this.folder, error);
    });
  }

  /** @param name of something in the folder; left out, the folder itself */
  async #removeEntry(name = ''): Promise<void> {
    await rm(join(this.folder, name), { recursive: true, force: true }).catch((error) => {
      throw ioError('write', this.folder, error);
    });
  }

  async #put(name: string, value: unknown): Promise<void> {
    const path = join(this.folder, name);
    const temporary = `${path}.new`;
    try {
      await writeFile(temporary, JSON.stringify(value));
      await rename(temporary, path);
    } catch (error) {
      throw ioError('write', path, error);
    }
  }
}

const isThisProcess = ({ pid, start }: Owner): boolean =>
  pid === thisProcess().pid && start === thisProcess().start;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
