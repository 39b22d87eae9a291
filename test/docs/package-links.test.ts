/** The pages that the package brings link only to files that it brings, so that no link is dead for those who install it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

/** Targets of the relative links of a page, without anchors. */
const targetsOf = (page: string, text: string): string[] =>
  [...text.replace(/```[\s\S]*?```/g, '').matchAll(/\]\(([^)\s]+)\)|(?:src|href|srcset)="([^"{}]+)"/g)]
    .map(([, link, attribute]) => (link ?? attribute ?? '').replace(/#.*/, ''))
    .filter((link) => link !== '' && !/^[a-z]+:/.test(link))
    .map((link) => posix.normalize(posix.join(posix.dirname(page), link)));

test('relative links of packed pages lead to packed files', (t) => {
  const pack = ['pack', '--dry-run', '--ignore-scripts', '--json'];
  const [{ files }] = JSON.parse(
    execFileSync('npm', pack, { cwd: packageRoot, encoding: 'utf8', maxBuffer: 2 ** 26 }),
  ) as [{ files: { path: string }[] }];
  const packed = files.map(({ path }) => path);
  const isThere = (target: string): boolean =>
    packed.some((path) => path === target || path.startsWith(`${target.replace(/\/$/, '')}/`));
  const links = packed
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) =>
      targetsOf(page, readFileSync(join(packageRoot, page), 'utf8')).map((to) => [page, to] as const),
    );
  t.true(links.length > 100, String(links.length));
  t.deepEqual(
    links.filter(([, to]) => !isThere(to)),
    [],
  );
});
