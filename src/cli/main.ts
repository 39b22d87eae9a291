#!/usr/bin/env node
// Two threads run this file: the main one hears signals, whatever blocks the other one, which does the work.
// Nothing heavy is imported before signals are heard.
import { isMainThread } from 'node:worker_threads';
import { supervise } from './supervisor.js';

if (isMainThread) supervise(new URL(import.meta.url), process.argv.slice(2));
else import('./work.js').then(({ work }) => work(process.argv.slice(2)));
