#!/usr/bin/env node
import { runCli } from './cli.js';
import { openProcess } from './process.js';

const { console, end } = openProcess();
runCli(process.argv.slice(2), console).then(end);
