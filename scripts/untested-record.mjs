// Preloaded into every process of a test run by scripts/untested.mjs: records the built programs and the launched
// kernels.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';

const folder = process.env.CLSORT_RECORD;
const kernels = new Set();
const programs = new Map();

/** Saves the current record: a killed process cannot save it at its end. */
function save() {
  const name = `record-${process.pid}-${isMainThread ? 0 : threadId}.json`;
  writeFileSync(
    join(folder, name),
    JSON.stringify({ kernels: [...kernels], programs: [...programs.values()] }),
  );
}

if (folder) {
  const { Program } = await import('../dist/src/device/programs/program.js');
  const { LaunchList } = await import('../dist/src/device/queue/launch-list.js');
  const { build } = Program;
  Program.build = function (place, text, name) {
    const file = /^#line 1 "([^"]+)"/.exec(text.source)?.[1] ?? name;
    const key = `${file} ${text.options}`;
    if (!programs.has(key)) {
      programs.set(key, { file, options: text.options });
      save();
    }
    return build.call(this, place, text, name);
  };
  const { add } = LaunchList.prototype;
  LaunchList.prototype.add = function (kernel, ...rest) {
    if (!kernels.has(kernel.name)) {
      kernels.add(kernel.name);
      save();
    }
    return add.call(this, kernel, ...rest);
  };
}
