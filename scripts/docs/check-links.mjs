// Checks links: pages and anchors that the built site links to exist, and so do files that pages outside the site link
// to.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { docs, root } from './pages.mjs';

const site = join(docs, 'site');

const decode = (text) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");

/** Returns the built pages, as paths below the site. */
export const builtPages = () =>
  readdirSync(site, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .sort();

/**
 * Returns the targets of a page's relative links and images, without anchors.
 *
 * @param file path below the root
 */
export function linksOfMarkdown(file) {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href|srcset)="([^"{}]+)"/g)];
  const targets = links.map(([, link, attribute]) => (link ?? attribute).split('#')[0]);
  return targets.filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}

export function check() {
  const problems = [];
  let count = 0;
  const pages = new Map(
    builtPages().map((path) => {
      const html = readFileSync(join(site, path), 'utf8');
      const ids = new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => decode(id)));
      const links = [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)].map(([, href]) => decode(href));
      return [path, { ids, links: [...new Set(links)] }];
    }),
  );
  for (const [path, { links }] of pages) {
    for (const link of links) {
      count++;
      if (/^(?:https?|mailto):/.test(link)) {
        if (!URL.canParse(link)) problems.push(`${path}: ${link} is no URL`);
        continue;
      }
      const [target, anchor] = link.split('#');
      const inSite =
        target === ''
          ? path
          : target.startsWith('/')
            ? target.slice(1)
            : posix.join(posix.dirname(path), target);
      const file = inSite === '' || inSite.endsWith('/') ? `${inSite}index.html` : inSite;
      const other = pages.get(file) ?? pages.get(`${file}.html`);
      if (!other && !existsSync(join(site, file))) problems.push(`${path}: ${link} leads nowhere`);
      else if (anchor && other && !other.ids.has(decodeURIComponent(anchor))) {
        problems.push(`${path}: ${link}: there is no such heading`);
      }
    }
  }
  for (const file of [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'docs/contributing/ARCHITECTURE.md',
    'docs/contributing/RECIPES.md',
    ...(existsSync(join(root, '.github')) ? ['.github/SECURITY.md'] : []),
  ]) {
    for (const target of linksOfMarkdown(file)) {
      count++;
      if (!existsSync(join(root, dirname(file), target))) problems.push(`${file}: ${target} is not there`);
    }
  }
  return { summary: `${count} links on ${pages.size} pages`, problems };
}
