/** Tests of pages in a real browser, headless Chromium. */
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { scratchFolder } from './cli/cli.js';
import { where } from './where.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser that `CLSORT_BROWSER` names, or the first Chromium in `PATH`. */
function findBrowser(): string | undefined {
  if (process.env.CLSORT_BROWSER) return process.env.CLSORT_BROWSER;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
    existsSync(path),
  );
}

/** The document of a page after its scripts have run and the keys were pressed. */
export type Visit = (html: string, keys?: readonly string[]) => Promise<string>;

const visitWith =
  (browser: string): Visit =>
  async (html, keys = []) => {
    const { path, remove } = scratchFolder();
    try {
      const presses = keys.map((key) => `dispatchEvent(new KeyboardEvent('keydown', { key: '${key}' }));`);
      const file = path('page.html');
      writeFileSync(file, `${html}<script>${presses.join('')}</script>`);
      const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
      const own = [`--user-data-dir=${path('profile')}`, '--virtual-time-budget=2000'];
      const args = [...flags, ...own, '--dump-dom', `file://${file}`];
      const { stdout } = await promisify(execFile)(browser, args, { timeout: 60_000, maxBuffer: 2 ** 24 });
      return stdout;
    } finally {
      remove();
    }
  };

/**
 * Declares a test that visits pages. Without a browser it is a skip with that reason; with `CLSORT_REQUIRE_BROWSER=1`,
 * as in CI, it fails.
 */
export function testInBrowser(
  title: string,
  body: (t: ExecutionContext, visit: Visit) => Promise<void>,
): void {
  const browser = findBrowser();
  if (!browser && process.env.CLSORT_REQUIRE_BROWSER === '1') {
    test(title, (t) => t.fail(`no browser: expected one of ${NAMES.join(' ')} in PATH, or CLSORT_BROWSER`));
  } else where(browser !== undefined, 'no browser here')(title, (t) => body(t, visitWith(browser as string)));
}
