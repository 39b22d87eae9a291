/** The pages of the package link only to files of the package, so that no link is dead after installation. */
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

const script = (name: string) => import(pathToFileURL(join(packageRoot, 'scripts', name)).href);
const { measurePackage } = (await script('package-size.mjs')) as { measurePackage(): { files: string[] } };
const { linksOfMarkdown } = (await script('docs/check-links.mjs')) as {
  linksOfMarkdown(file: string): string[];
};

test('relative links of packed pages lead to packed files', (t) => {
  const { files } = measurePackage();
  const isThere = (target: string): boolean =>
    files.some((path) => path === target || path.startsWith(`${target.replace(/\/$/, '')}/`));
  const links = files
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) =>
      linksOfMarkdown(page).map(
        (to) => [page, posix.normalize(posix.join(posix.dirname(page), to))] as const,
      ),
    );
  t.true(links.length > 100, String(links.length));
  t.deepEqual(
    links.filter(([, to]) => !isThere(to)),
    [],
  );
});
