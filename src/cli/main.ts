#!/usr/bin/env node
// Two threads run this file: the main thread handles signals, the other does the work and may block. Nothing heavy is
// imported before signal handlers are installed. Command lines about the command itself need no second thread: signals
// keep their default action.
import { isMainThread } from 'node:worker_threads';
import { asked, isAbout } from './about.js';
import { versionText } from './version.js';

const argv = process.argv.slice(2);
if (asked(argv) === 'version' && versionText()) process.exitCode = 0;
else if (!isMainThread || isAbout(argv)) import('./work.js').then(({ work }) => work(argv));
else import('./supervisor.js').then(({ supervise }) => supervise(new URL(import.meta.url), argv));
