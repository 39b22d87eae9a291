import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';

const docs = join(import.meta.dirname, '..');

/** Where the site is to lie below its host, with slashes at both ends. */
const base = process.env.CLSORT_DOCS_BASE ?? '/';

/** Pages whose tables have the place of the outline: their sources are shown elsewhere as well, where front matter is a table. */
const WIDE = new Set(['node-opencl.md', 'reference/functions.md']);

interface Item {
  text: string;
  link: string;
}

/** What a page calls itself, in its first heading. */
const titleOf = (file: string): string =>
  /^# (.*)$/m
    .exec(readFileSync(file, 'utf8'))?.[1]
    ?.replaceAll(/\\(.)/g, '$1')
    .replaceAll('`', '')
    .replace(/^(?:Function|Class|Interface|Type Alias|Variable): /, '') ?? file;

/** The generated pages of a folder. */
function pagesOf(folder: string): Item[] {
  const path = join(docs, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .sort()
    .map((name) => ({
      text: titleOf(join(path, name)),
      link: `/${folder}/${name.replace(/\.md$/, '')}`,
    }));
}

/** Reference pages outside of reference/. */
const filesAndDevices = [
  { text: 'File formats', link: '/files' },
  { text: 'Batches', link: '/batches' },
  { text: 'Many machines', link: '/many-machines' },
  { text: 'Devices', link: '/devices' },
  { text: 'Test matrix', link: '/matrix' },
  { text: 'Reports of the matrix', link: '/matrix/reports' },
];

const guides = [
  {
    text: 'Get started',
    items: [
      { text: 'First sort in five minutes', link: '/guides/first-sort' },
      { text: 'When not to use clsort', link: '/guides/when-not' },
      { text: 'Support', link: '/support' },
    ],
  },
  {
    text: 'In a program',
    items: [
      { text: 'Operations and options', link: '/guides/operations' },
      { text: 'In a web server', link: '/guides/web-server' },
      { text: 'In workers', link: '/guides/workers' },
      { text: 'Trace calls', link: '/guides/trace-calls' },
      { text: 'Device arrays', link: '/guides/device-arrays' },
      { text: 'Segments and many arrays', link: '/segments' },
      { text: 'OpenCL directly', link: '/guides/opencl' },
      { text: 'Moving from node-opencl', link: '/node-opencl' },
    ],
  },
  {
    text: 'Files',
    items: [
      { text: 'The command', link: '/guides/command' },
      { text: 'Coming from sort(1), NumPy, DuckDB, jq', link: '/guides/coming-from' },
      { text: 'Files and tables', link: '/guides/tables' },
      { text: 'Batches', link: '/guides/batches' },
      { text: 'Many machines', link: '/guides/many-machines' },
    ],
  },
  {
    text: 'Devices',
    items: [
      { text: 'Choose and test a device', link: '/guides/qualify' },
      { text: 'Several devices', link: '/guides/several-devices' },
      { text: 'GPU drivers', link: '/guides/drivers' },
      { text: 'Inspect kernels', link: '/guides/lab' },
    ],
  },
  {
    text: 'Deployment',
    items: [
      { text: 'Bundlers', link: '/bundlers' },
      { text: 'Electron', link: '/guides/electron' },
      { text: 'Docker', link: '/guides/docker' },
    ],
  },
  { text: 'Reference', items: filesAndDevices },
];

const reference = [
  {
    text: 'Reference',
    items: [
      { text: 'Overview', link: '/reference/' },
      { text: 'Options', link: '/reference/options' },
      { text: 'Errors', link: '/reference/errors' },
      { text: 'Command', link: '/reference/command' },
      { text: 'OpenCL functions', link: '/reference/functions' },
    ],
  },
  { text: 'Files and devices', items: filesAndDevices },
  ...(
    [
      ['Functions', 'functions'],
      ['Classes', 'classes'],
      ['Interfaces', 'interfaces'],
      ['Types', 'type-aliases'],
      ['Constants', 'variables'],
    ] as const
  ).map(([text, kind]) => ({
    text: `clsort: ${text.toLowerCase()}`,
    collapsed: kind !== 'functions',
    items: pagesOf(`reference/clsort/${kind}`),
  })),
  { text: 'clsort/opencl', collapsed: false, items: pagesOf('reference/opencl') },
];

const performance = [
  {
    text: 'Performance',
    items: [
      { text: 'Measured', link: '/performance/' },
      { text: 'All measurements', link: '/performance/rows' },
      { text: 'Compare your device', link: '/performance/compare' },
    ],
  },
];

const course = [
  {
    text: 'How a GPU sorts',
    items: [
      { text: 'Overview', link: '/course/' },
      ...[
        'work-items',
        'reduce',
        'scan',
        'histogram',
        'radix',
        'networks',
        'merge',
        'votes',
        'look-back',
        'measured',
        'exercises',
      ].map((name, i) => ({
        text: `${i + 1}. ${titleOf(join(docs, 'course', `${name}.md`))}`,
        link: `/course/${name}`,
      })),
      { text: 'The lab', link: '/lab' },
    ],
  },
];

export default defineConfig({
  title: 'clsort',
  description: 'Sorts large numeric arrays from Node.js on any OpenCL device, and verifies the result',
  lang: 'en',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}favicon.svg` }]],
  base,
  outDir: join(docs, 'site'),
  srcExclude: ['api/**', 'contributing/**'],
  rewrites: { 'matrix/README.md': 'matrix/reports.md' },
  cleanUrls: false,
  transformPageData: ({ relativePath, frontmatter }) =>
    WIDE.has(relativePath) ? { frontmatter: { ...frontmatter, aside: false } } : undefined,
  markdown: {
    // On GitHub a folder's page is its README. Here matrix/README.md is matrix/reports: an index would be served for /matrix.
    config(md) {
      md.core.ruler.push('readme-links', ({ tokens }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null;
          if (href?.includes('README.'))
            token.attrSet('href', href.replace(/README\.(?:md|html)/, 'reports.html'));
        }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      {
        text: 'Guides',
        link: '/guides/first-sort',
        activeMatch: '^/(?!$|404|index|reference|course|lab|performance)',
      },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference' },
      { text: 'Course', link: '/course/', activeMatch: '^/(course|lab)' },
      { text: 'Performance', link: '/performance/', activeMatch: '^/performance' },
    ],
    sidebar: {
      '/reference/': reference,
      '/course/': course,
      '/lab': course,
      '/performance/': performance,
      '/': guides,
    },
  },
});
