#!/usr/bin/env node
// Two threads run this file: the main one hears signals, whatever blocks the other one, which does the work.
// Nothing heavy is imported before signals are heard. What is only asked about the command needs no second thread:
// signals do there what they do by default.
import { isMainThread } from 'node:worker_threads';
import { asked, isAbout } from './about.js';
import { versionText } from './version.js';

const argv = process.argv.slice(2);
if (asked(argv) === 'version' && versionText()) process.exitCode = 0;
else if (!isMainThread || isAbout(argv)) import('./work.js').then(({ work }) => work(argv));
else import('./supervisor.js').then(({ supervise }) => supervise(new URL(import.meta.url), argv));
