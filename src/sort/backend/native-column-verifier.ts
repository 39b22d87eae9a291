import { infinityBits } from '../../keys/dtype.js';
import { codecWords, type KeyCodec } from '../../keys/key-codec.js';
import type { ScanOp } from '../../primitives/possible.js';
import { type Column, wordsOf } from '../model/column.js';
import type { ColumnSelection } from './column-kernels.js';
import type { TopResult } from './column-verifier.js';
import {
  type DistinctFindings,
  HostColumnVerifier,
  type SelectionFindings,
  segmentArrays,
  type TopFindings,
} from './host-column-verifier.js';
import {
  encodedKeysOf,
  extremeCodec,
  isNative,
  keysOf,
  operationOf,
  runNative,
  selectionArguments,
} from './native-column-kernels.js';

/**
 * Column verifiers of the host engine. Large columns are verified in the addon, if it can be loaded, with the findings of
 * `HostColumnVerifier`.
 */
export class NativeColumnVerifier extends HostColumnVerifier {
  protected override async scanMismatch(
    from: Column,
    to: Column,
    op: ScanOp,
    inclusive: boolean,
  ): Promise<number> {
    if (!(await isNative(from.n, from, to))) return super.scanMismatch(from, to, op, inclusive);
    const keys = [...encodedKeysOf(from, extremeCodec(from, op)), ...operationOf(from, op)];
    const [wrong] = await this.#run('hostVerifyScanAsync', 1, from.n, ...keys, inclusive, wordsOf(to));
    return wrong === from.n ? -1 : (wrong as number);
  }

  protected override async selectionFindings(
    keys: Column,
    selection: ColumnSelection,
    to: Column,
    rest: boolean,
    reported: number,
  ): Promise<SelectionFindings> {
    const masks = 'mask' in selection ? [selection.mask] : [];
    if (!(await isNative(keys.n, keys, to, ...masks))) {
      return super.selectionFindings(keys, selection, to, rest, reported);
    }
    const by = [...selectionArguments(keys, selection), rest, wordsOf(to), reported];
    const [chosen, same] = await this.#run('hostVerifySelectionAsync', 2, keys.n, ...by);
    return { chosen: chosen as number, same: same === 1 };
  }

  protected override async distinctFindings(
    keys: Column,
    distinct: Column,
    counts: Column,
    codec: KeyCodec,
  ): Promise<DistinctFindings> {
    if (!(await isNative(keys.n, keys, distinct, counts))) {
      return super.distinctFindings(keys, distinct, counts, codec);
    }
    const found = [
      ...encodedKeysOf(keys, codec),
      infinityBits(keys.info),
      wordsOf(distinct),
      wordsOf(counts),
    ];
    const [wrong, same] = await this.#run('hostVerifyDistinctAsync', 2, keys.n, ...found);
    return { wrong: wrong as number, same: same === 1 };
  }

  protected override async topFindings(keys: Column, result: TopResult): Promise<TopFindings> {
    const { segments, positions, bits } = result;
    const columns = segments ? [segments.offsets, segments.begins] : [];
    if (!(await isNative(keys.n, keys, result.keys, positions, ...columns)))
      return super.topFindings(keys, result);
    const mask = (1n << BigInt(bits[1])) - (1n << BigInt(bits[0]));
    const [wrongSegments, wrong, counted] = await this.#run(
      ...['hostVerifyTopAsync' as const, 3, keys.n, ...keysOf(keys), codecWords(result.codec, mask)],
      ...segmentArrays(keys, result),
      result.k,
      ...[wordsOf(result.keys), wordsOf(positions), segments?.fromSegment ?? false],
    );
    return { wrongSegments, wrong, counted } as TopFindings;
  }

  /** Runs a function of the addon that reports `count` numbers. */
  async #run(
    name: Parameters<typeof runNative>[0],
    count: number,
    n: number,
    ...parameters: readonly unknown[]
  ): Promise<number[]> {
    const findings = new BigUint64Array(count);
    await runNative(name, n, [...parameters, findings], this.signal);
    return Array.from(findings, Number);
  }
}
