// Collects the counts, failures and times of a test run.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, stage } from './stage.mjs';

const AVA = [process.execPath, 'node_modules/ava/entrypoints/cli.mjs'];

/** Folder for the output of a run: CLSORT_CI_OUT, or .setup/ci. */
const OUT = process.env.CLSORT_CI_OUT || join(root, '.setup', 'ci');
const TIMES = 'ci-times.json';
/** Number of slowest test files printed. */
const SLOWEST = 50;

const lastLines = (text, count) => text.trimEnd().split('\n').slice(-count).join('\n');

/** Returns the lines of failed tests in order, and the details that ava prints at the end. */
function failedTests(output) {
  const lines = output.split('\n').filter((line) => /^\s*✘/.test(line));
  const [, ...details] = output.split(/^\s*─$/m);
  return [...lines, lastLines(details.length > 0 ? details.join('─') : output, 200)].join('\n');
}

/** Returns the counts in ava's closing lines. After failures ava has no line of passed tests, so these are counted. */
export function countsOf(output) {
  const sum = (pattern) => [...output.matchAll(pattern)].reduce((all, [, count]) => all + Number(count), 0);
  return {
    passed: sum(/^\s*(\d+) tests? passed/gm) || [...output.matchAll(/^\s*✔ /gm)].length,
    failed: sum(/^\s*(\d+) (?:tests? failed|known failures?|uncaught exceptions?|unhandled rejections?)/gm),
    skipped: sum(/^\s*(\d+) tests? skipped/gm),
  };
}

/** Returns the reason in brackets at the end of a skipped test's title. */
const reasonOf = (title) => /\(([^()]*)\)$/.exec(title)?.[1] ?? 'declared in the test';
const skipReasons = (output) =>
  [...output.matchAll(/^\s*- \[skip\] (.*)$/gm)].map(([, title]) => reasonOf(title));

/** Returns the test files whose process crashed, hung or ended early, by the paths passed to ava. */
export function crashedFiles(output) {
  const named = [...output.matchAll(/^\s*✘ (\S+\.test\.js) (?:exited|timed out)/gm)].map(([, file]) => file);
  return [...new Set(named)];
}

export class Results {
  #counts = { passed: 0, failed: 0, skipped: 0 };
  #failures = [];
  #repeated = [];
  /** Number of skipped tests and lanes by reason. */
  #skips = new Map();
  #stages = [];
  #started = performance.now();
  #testTimes = join(OUT, 'test-times.jsonl');
  /** Times of test files that runs of `suites` recorded. */
  #files = [];

  constructor() {
    rmSync(OUT, { recursive: true, force: true });
    mkdirSync(OUT, { recursive: true });
    writeFileSync(this.#testTimes, '');
  }

  /** Variables with which a test process records its times here. */
  get env() {
    return { CLSORT_TEST_TIMES: this.#testTimes };
  }

  get failed() {
    return this.#counts.failed;
  }

  /** Whether a process crashed or hung, even if it passed the second time. */
  get crashed() {
    return this.#repeated.length > 0;
  }

  fail(name, details) {
    this.#counts.failed++;
    this.#failures.push([name, details]);
  }

  skip(reason, count = 1) {
    this.#counts.skipped += count;
    this.#skips.set(reason, (this.#skips.get(reason) ?? 0) + count);
  }

  async #run(name, command, options) {
    const { output, ok, wall, processor } = await stage(name, command, options);
    this.#stages.push({ name, wall, processor });
    return { ok, output };
  }

  /** Runs a command that succeeds or fails as a whole, and counts as one. */
  async check(name, command, options) {
    const result = await this.#run(name, command, options);
    if (result.ok) this.#counts.passed++;
    else this.fail(name, lastLines(result.output, 60));
    return result;
  }

  /** Counts one check: the log file of a simulator, whose exit code is always 0, must be empty. */
  expectEmpty(name, file) {
    let found = '';
    try {
      found = readFileSync(file, 'utf8').trim();
    } catch {
      // The step found no tests.
    }
    if (found === '') this.#counts.passed++;
    else this.fail(name, found.slice(0, 4000));
  }

  /**
   * Runs test files and counts their tests. Files whose process crashed or hung without a failed test, which drivers
   * occasionally cause, run once more.
   *
   * @param {{ ava?: string[] }} options `ava` replaces the command that runs the files; the others are those of `stage`
   */
  async tests(name, files, { ava = AVA, ...options } = {}, isRepeat = false) {
    const { ok, output } = await this.#run(name, [...ava, ...files], {
      ...options,
      env: { ...this.env, ...options.env },
    });
    const { passed, failed, skipped } = countsOf(output);
    const crashed = crashedFiles(output);
    this.#counts.passed += passed;
    for (const reason of skipReasons(output)) this.skip(reason);
    const unnamed = skipped - skipReasons(output).length;
    if (unnamed > 0) this.skip('declared in the test', unnamed);
    if (!ok && failed === 0 && crashed.length > 0 && !isRepeat) {
      this.#repeated.push([name, failedTests(output)]);
      const avaOptions = files.filter((file) => file.startsWith('--'));
      await this.tests(
        `${name}, files that crashed, once more`,
        [...crashed, ...avaOptions],
        { ava, ...options },
        true,
      );
      return;
    }
    const broken = failed === 0 && (!ok || passed === 0) ? 1 : 0;
    if (failed + broken === 0) return;
    this.#counts.failed += failed + broken;
    this.#failures.push([name, failedTests(output)]);
  }

  /** Runs a command that counts tests with this class, as `npm test` does, and adds its counts and times. */
  async suites(name, command, options) {
    const out = join(OUT, 'suites');
    const { ok, output } = await this.#run(name, command, {
      ...options,
      env: { ...options?.env, CLSORT_CI_OUT: out },
    });
    const file = join(out, TIMES);
    const { counts, skips, stages, files, failures, repeated } = existsSync(file)
      ? JSON.parse(readFileSync(file, 'utf8'))
      : { counts: { passed: 0, failed: 0 }, skips: [], stages: [], files: [], failures: [], repeated: [] };
    this.#counts.passed += counts.passed;
    this.#counts.failed += counts.failed;
    for (const [reason, count] of skips) this.skip(reason, count);
    this.#stages.push(...stages);
    this.#files.push(...files);
    this.#failures.push(...failures);
    this.#repeated.push(...repeated);
    if (!ok && counts.failed === 0) this.fail(name, lastLines(output, 60));
  }

  /** Returns the rows of test processes, the slowest first. */
  #slowest() {
    const lines = readFileSync(this.#testTimes, 'utf8').split('\n').filter(Boolean);
    const own = lines.map((line) => JSON.parse(line));
    return [...own, ...this.#files].toSorted((a, b) => b.wall - a.wall);
  }

  #printTimes() {
    const row = ({ wall, processor }, name) =>
      `${wall.toFixed(1).padStart(8)} ${processor.toFixed(1).padStart(8)}  ${name}\n`;
    const files = this.#slowest();
    process.stdout.write(`\n   clock processor, seconds of each stage\n`);
    for (const one of this.#stages) process.stdout.write(row(one, one.name));
    process.stdout.write(`\n   clock processor, seconds of the ${SLOWEST} slowest test files\n`);
    for (const one of files.slice(0, SLOWEST)) process.stdout.write(row(one, one.file));
    const file = join(OUT, TIMES);
    const times = {
      seconds: (performance.now() - this.#started) / 1000,
      counts: this.#counts,
      skips: [...this.#skips],
      stages: this.#stages,
      files,
      failures: this.#failures,
      repeated: this.#repeated,
    };
    writeFileSync(file, `${JSON.stringify(times, null, 1)}\n`);
    process.stdout.write(`\nAll times: ${file}\n`);
  }

  /**
   * Prints failures, times, skips by reason and finally the counts.
   *
   * @returns the exit code
   */
  print() {
    this.#printTimes();
    for (const [name, details] of this.#repeated) {
      process.stdout.write(
        `\n=== A PROCESS CRASHED OR HUNG and its files ran once more: ${name}\n${details}\n`,
      );
    }
    for (const [name, details] of this.#failures) process.stdout.write(`\n=== FAILED: ${name}\n${details}\n`);
    process.stdout.write('\nSkipped, by reason:\n');
    for (const [reason, count] of [...this.#skips].toSorted(([, a], [, b]) => b - a)) {
      process.stdout.write(`${String(count).padStart(6)}  ${reason}\n`);
    }
    const { passed, failed, skipped } = this.#counts;
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    return failed === 0 && passed > 0 ? 0 : 1;
  }
}
