import type { Device } from '../device/device.js';
import type { Queue } from '../device/queue/queue.js';
import type {
  Algorithm,
  AlgorithmShape,
  Enqueued,
  ScratchOptions,
  ScratchSizes,
  SortRequest,
  SortWork,
} from './algorithm.js';
import type { AlgorithmName } from './algorithm-names.js';

/** A sort for values of one size, with the programs and parameters `T` that it was compiled with. */
export abstract class CompiledSort<T> implements Algorithm {
  readonly name: AlgorithmName;
  readonly device: Device;
  readonly shape: AlgorithmShape;
  protected readonly built: T;

  constructor(name: AlgorithmName, device: Device, shape: AlgorithmShape, built: T) {
    this.name = name;
    this.device = device;
    this.shape = shape;
    this.built = built;
  }

  supports(request: SortRequest): true | string {
    const { valueBytes } = this.shape;
    if (request.valueBytes !== valueBytes) return `compiled for values of ${valueBytes} bytes`;
    return this.accepts(request);
  }

  /** As `supports`, for values of the right size. Default: all requests. */
  protected accepts(_request: SortRequest): true | string {
    return true;
  }

  /** Default: none. */
  scratch(_n: number, _options: ScratchOptions): ScratchSizes {
    return {};
  }

  abstract enqueue(queue: Queue, work: SortWork): Enqueued;
}
