/** Shows the progress of tasks like that of a batch: one line for the whole, and one per worker. */
import type { Job } from '../batch/jobs.js';
import { Tally } from '../batch/tally.js';
import type { JobEvent } from '../engines/coordinator.js';
import { type Task, taskText } from '../engines/job-runner.js';
import { viewLines } from './batch-text.js';
import { type Console, say } from './console.js';
import { LiveView } from './live-view.js';

export class TaskView {
  readonly #console: Console;
  readonly #view: LiveView;
  readonly #jobs = new Map<string, Job>();
  #tally = new Tally();
  #tasks = 0;
  #stage = '';

  constructor(console: Console) {
    this.#console = console;
    this.#view = new LiveView(console);
  }

  readonly handle = (event: JobEvent): void => {
    if (event.is === 'warning') {
      this.say(`warning: ${event.message}`);
      return;
    }
    if (event.is === 'stage') {
      this.#tally = new Tally();
      this.#tasks = event.tasks - event.done;
      this.#stage = event.stage;
      const before = event.done > 0 ? `, ${event.done} of them completed earlier` : '';
      if (!this.#console.quiet)
        this.say(`${event.stage}: ${event.tasks} ${event.tasks === 1 ? 'task' : 'tasks'}${before}`);
      return;
    }
    const { task, worker: device } = event;
    const job = this.#jobOf(task);
    if (event.is === 'done') this.#tally.handle({ is: 'end', result: { job, outcome: 'ok', device } });
    else if (event.is === 'failed') this.#tally.handle({ is: 'end', result: { job, outcome: 'error' } });
    else if (event.is === 'progress')
      this.#tally.handle({ is: 'progress', job, device, progress: event.progress });
    else if (event.is === 'again') {
      this.#tally.handle({ is: 'again', job, device, error: event.error });
      if (!this.#console.quiet) this.say(`${taskText(task)} is retried: ${event.error.message}`);
    } else this.#tally.handle({ is: 'begin', job, device });
    this.#view.update(() => {
      const [whole = '', ...workers] = viewLines(this.#tally, this.#tasks);
      return [`${this.#stage}: ${whole.replace(' jobs', ' tasks')}`, ...workers];
    });
  };

  say(text: string): void {
    this.#view.clear();
    say(this.#console, `clsort: ${text}`);
  }

  clear(): void {
    this.#view.clear();
  }

  /** Returns the task as a job, the form that the tally of batches counts. */
  #jobOf(task: Task): Job {
    const name = taskText(task);
    let job = this.#jobs.get(name);
    if (!job) {
      job = { name, in: '', out: '' };
      this.#jobs.set(name, job);
    }
    return job;
  }
}
