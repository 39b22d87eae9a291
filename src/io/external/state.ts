/**
 * The state of a sort: a folder with the manifest, which describes the sort, one record per completed task, and the
 * partitions. Records are written to a temporary file and renamed, so that each is complete. A task without a record is
 * run again.
 */

import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IoError } from '../../util/errors.js';
import { parseJson } from '../../util/json.js';
import type { StoredProducts } from '../checks/multiset.js';
import { ioError } from '../streams/raw.js';
import { hasOwnerExited, type Owner, thisProcess } from '../streams/temporary-files.js';
import type { InputIdentity } from './input.js';
import type { StoredSplitters } from './splitters.js';

const MANIFEST = 'manifest.json';
const OWNER = 'owner.json';
/** Version of the format of the state; a state of another version is refused. */
const VERSION = 1;

/** Identifies a sort; a state is resumed only when all fields match. */
export interface Manifest {
  readonly version: number;
  readonly input: InputIdentity;
  /** Record size in bytes, and the description of the order. */
  readonly unit: number;
  readonly order: string;
  /** Name of the unfinished result next to the output; undefined when it is not kept. */
  readonly part: string | undefined;
  readonly splitters: StoredSplitters;
  /** Points of the checksums, as decimal numbers; undefined without verification. */
  readonly points: readonly string[] | undefined;
  /** Boot ID of the system in which unsynced data are trusted. */
  readonly boot: string;
}

/** Task record of a shard, a range of the input that is in its partitions. All earlier shards also have records. */
export interface ShardRecord {
  /** Input bytes up to its end, and the size of each partition in bytes. */
  readonly end: number;
  readonly sizes: readonly number[];
  readonly products?: StoredProducts | undefined;
}

/** Task record of a partition that was split again. */
export interface SplitRecord {
  readonly sizes: readonly number[];
  readonly single: readonly boolean[];
  /** Per partition, the number of low bits in which prefixes may differ; absent when all may. */
  readonly differing?: readonly number[] | undefined;
}

/** Task record of a partition that is in the output. */
export interface SortedRecord {
  readonly bytes: number;
  /** The first and last record, as base64. */
  readonly ends?: readonly [first: string, last: string] | undefined;
  readonly products?: StoredProducts | undefined;
}

/** A state folder in use by this process. */
export class State {
  readonly folder: string;
  #hasBegun = false;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Reads the manifest of a folder; returns undefined when there is no state.
   *
   * @throws IoError when it cannot be read
   */
  static async find(folder: string): Promise<Manifest | undefined> {
    const text = await readFile(join(folder, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw ioError('read', folder, error);
    });
    if (text === undefined) return undefined;
    const manifest = parseJson(text) as Manifest | undefined;
    if (manifest?.version === VERSION) return manifest;
    throw new IoError(
      `cannot resume the sort: ${folder} holds no state of this version. Remove it to sort anew`,
      { details: { path: folder } },
    );
  }

  /**
   * Takes ownership of a folder, creating it if necessary.
   *
   * @throws IoError when another process is using it
   */
  static async open(folder: string): Promise<State> {
    try {
      // Parent folders are not created, so that a mistyped name raises an error.
      await mkdir(folder).catch((error) => {
        if (error.code !== 'EEXIST') throw error;
      });
      const state = new State(folder);
      const text = await readFile(join(folder, OWNER), 'utf8').catch(() => '');
      const owner = parseJson(text) as Owner | undefined;
      if (owner?.pid && !hasOwnerExited(owner) && !isThisProcess(owner)) {
        throw new IoError(
          `cannot use the state in ${folder}: process ${owner.pid} is sorting to the same output`,
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

  /** Whether this process has written a manifest. Without one there is nothing to resume, unless it existed before. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Stores the record of a completed task. */
  put(task: string, record: ShardRecord | SplitRecord | SortedRecord | Record<string, never>): Promise<void> {
    return this.#put(`${task}.json`, record);
  }

  /** Returns the record of a task; undefined when it has none. */
  async get<R>(task: string): Promise<R | undefined> {
    const text = await readFile(join(this.folder, `${task}.json`), 'utf8').catch(() => '');
    return parseJson(text) as R | undefined;
  }

  /**
   * Whether a task record with this name prefix exists.
   *
   * @throws IoError when the folder no longer exists
   */
  async has(prefix: string): Promise<boolean> {
    return (await this.#names()).some((name) => name.startsWith(prefix));
  }

  /**
   * Removes the state; with `keepFolder`, only the contents of the folder.
   *
   * @throws IoError when removal fails
   */
  async remove({ keepFolder = false } = {}): Promise<void> {
    // The manifest goes first: without it, the remaining files are ignored.
    await this.#removeEntry(MANIFEST);
    if (!keepFolder) return this.#removeEntry();
    for (const name of await this.#names()) if (name !== OWNER) await this.#removeEntry(name);
  }

  #names(): Promise<string[]> {
    return readdir(this.folder).catch((error) => {
      throw ioError('read', this.folder, error);
    });
  }

  /** @param name name of an entry of the folder; default: the folder itself */
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
