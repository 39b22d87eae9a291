/** Runs tasks one after the other in this process. */
import { assertNotAborted } from '../io/streams/raw.js';
import type { JobRunner, Task, TaskEvent } from './job-runner.js';
import { runTask } from './run-task.js';
import { cpuSeconds } from './run-times.js';
import type { WorkerContext } from './worker-context.js';

export class LocalJobRunner implements JobRunner {
  readonly name = 'local';
  readonly #context: WorkerContext;

  constructor(context: WorkerContext) {
    this.#context = context;
  }

  async *run(
    tasks: readonly Task[],
    _: (task: Task) => Promise<boolean>,
    signal: AbortSignal,
  ): AsyncGenerator<TaskEvent> {
    const worker = this.name;
    for (const task of tasks) {
      assertNotAborted(signal);
      yield { is: 'begin', task, worker };
      const started = performance.now();
      const cpuBefore = cpuSeconds();
      try {
        await runTask(task, this.#context);
      } catch (error) {
        yield { is: 'failed', task, worker, error: error as Error };
        return;
      }
      yield {
        ...{ is: 'done', task, worker, seconds: (performance.now() - started) / 1000 },
        cpuSeconds: cpuSeconds() - cpuBefore,
        device: task.kind === 'sort' ? ((await this.#context.sorter()).device?.name ?? 'host') : undefined,
      };
    }
  }

  async reportStatus(): Promise<void> {}

  async close(): Promise<void> {}
}
