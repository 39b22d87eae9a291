/** Traces a sort of a device array, and compares the files that it passes with the table in ARCHITECTURE.md. */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Sorter } from '../../src/index.js';
import { packageRoot } from '../../src/util/paths.js';
import { forEachDevice, testIf } from '../each-device.js';

/** Most files that may work on a call, apart from those of its algorithm. */
const MAX_FILES = 18;
/** Files that only define values or call the driver. */
const VOCABULARY = /^src\/(?:sort\/model|keys|util|opencl)\//;
/** Files that enqueue the launches of an algorithm. Which ones do depends on the plan. */
const ALGORITHM = /^src\/(?:algorithms\/(?!run\.)|device\/(?:codec-argument|programs\/program)\.)/;

const page = readFileSync(join(packageRoot, 'docs/contributing/ARCHITECTURE.md'), 'utf8');
const [section = ''] = /## The way of a key\n.*?\n##/s.exec(page) ?? [];
const documented = [...section.matchAll(/^\| `(src\/[^`]+)` \|/gm)].map(([, file]) => file as string);

/** Returns the files of src/ with a function that runs while `use` does. */
async function filesPassed(use: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage'); // resets the counts
    await use();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const root = pathToFileURL(join(packageRoot, 'dist/')).href;
    return result
      .filter(({ url }) => url.startsWith(`${root}src/`))
      .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
      .map(({ url }) => url.slice(root.length).replace(/\.js$/, '.ts'));
  } finally {
    session.disconnect();
  }
}

forEachDevice((title, open, _small, name) => {
  const able = name === 'pocl' || 'the page lists the files for PoCL';
  testIf(able, title('a sort of a device array passes the files that ARCHITECTURE.md lists'), async (t) => {
    const sorter = await Sorter.open({ device: (await open()).info.id });
    try {
      using keys = await sorter.upload(
        Uint32Array.from({ length: 4096 }, (_, i) => Math.imul(i, 2654435761) >>> 0),
      );
      for (let i = 0; i < 3; i++) (await sorter.sort(keys)).dispose();
      const passed = await filesPassed(async () => (await sorter.sort(keys)).dispose());
      t.true(passed.some((file) => ALGORITHM.test(file)));
      const working = passed.filter((file) => !VOCABULARY.test(file) && !ALGORITHM.test(file)).toSorted();
      t.deepEqual(working, documented.toSorted());
      t.true(working.length <= MAX_FILES, `${working.length} files`);
    } finally {
      await sorter.close();
    }
  });
});
