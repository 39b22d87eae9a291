#!/usr/bin/env node
import { runCli } from './cli.js';
import { EXIT } from './exit-code.js';

/** How long an interrupted command may take to leave by itself: a device may be busy. */
const GRACE_MS = 2000;

const controller = new AbortController();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const again = controller.signal.aborted;
    process.exitCode = EXIT.interrupted;
    controller.abort();
    if (again) process.exit(EXIT.interrupted);
    setTimeout(() => process.exit(EXIT.interrupted), GRACE_MS).unref();
  });
}

// A reader that has seen enough (`| head`) closes the pipe; the write itself reports it.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const { stdin, stdout, stderr } = process;
runCli(process.argv.slice(2), { stdin, stdout, stderr, signal: controller.signal }).then((code) => {
  process.exitCode = controller.signal.aborted ? EXIT.interrupted : code;
});
