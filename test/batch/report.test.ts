import test from 'ava';
import type { JobResult } from '../../src/batch/events.js';
import { htmlReport } from '../../src/batch/report/html.js';
import { junitReport } from '../../src/batch/report/junit.js';
import { markdownReport } from '../../src/batch/report/markdown.js';
import { type BatchReport, reportFormat } from '../../src/batch/report/report.js';
import { Timeline } from '../../src/batch/report/timeline.js';
import { UsageError } from '../../src/util/errors.js';
import { testInBrowser } from '../browser.js';

const evil = `<script>document.title = 'run'</script>|"&'\u0007`;
const report: BatchReport = {
  name: evil,
  summary: { jobs: 3, ok: 1, done: 0, failed: 1, skipped: 1, seconds: 1.5 },
  rows: [
    {
      name: 'a',
      in: '/a',
      out: '/b',
      outcome: 'ok',
      seconds: 0.5,
      n: 1234,
      dtype: 'u32',
      algorithm: 'amd',
      device: { name: 'GPU' },
    },
    {
      name: evil,
      in: '/c',
      out: '/d',
      outcome: 'error',
      seconds: 0.1,
      error: { code: 'ERR_CLSORT_IO', message: evil },
    },
    { name: 'c', in: '/e', out: '/f', outcome: 'skipped' },
  ],
  timeline: [{ name: evil, rows: [[{ kind: 'sort', job: evil, begin: 0.25, seconds: 0.5 }]] }],
};

test('JUnit: a case each, counted, with text that is no markup', (t) => {
  const xml = junitReport(report);
  t.regex(xml, /<testsuite name="[^"<]*" tests="3" failures="1" errors="0" skipped="1" time="1\.500">/);
  t.is(xml.match(/<testcase /g)?.length, 3);
  t.is(xml.match(/<failure type="ERR_CLSORT_IO"/g)?.length, 1);
  t.is(xml.match(/<skipped\/>/g)?.length, 1);
  t.false(xml.includes('<script>'));
  t.false(xml.includes('\u0007'), 'XML has no such character');
});

test('Markdown: cells that end where they are to', (t) => {
  const lines = markdownReport(report).split('\n');
  const rows = lines.filter((line) => line.startsWith('| '));
  t.is(rows.length, 2 + 1 + 3);
  for (const row of rows) t.true([5, 8].includes(row.replaceAll('\\|', '').split('|').length), row);
});

test('the name of a report says what it is', (t) => {
  t.is(reportFormat('x/Report.HTML'), '.html');
  t.throws(() => reportFormat('report.pdf'), {
    instanceOf: UsageError,
    message: /\.json, \.md, \.xml, \.html/,
  });
});

test('a timeline has what went on at the same time in rows of its own', (t) => {
  const timeline = new Timeline();
  const began = Date.now();
  const end = (name: string, at: number): void => {
    const made = {
      stages: [
        { stage: 'upload', seconds: 0.1 },
        { stage: 'sort', seconds: 0.2 },
      ],
      readSeconds: 0.5,
      seconds: 0.4,
      writeSeconds: 0.25,
    };
    const result = {
      outcome: 'ok',
      job: { name },
      device: 'gpu',
      began: began + at * 1000,
      seconds: 2,
      sumSeconds: 0.25,
      report: made,
    };
    timeline.hear({ is: 'end', result: result as unknown as JobResult });
  };
  end('a', 0);
  end('b', 1);
  end('c', 10);
  const drawn = timeline.drawn();
  t.deepEqual(
    drawn.map(({ name, rows }) => [name, rows.length]),
    [
      ['gpu', 2],
      ['gpu: transfers', 1],
      ['disk', 2],
    ],
  );
  const [first] = drawn[0]?.rows ?? [];
  t.deepEqual(first?.map(({ job, kind }) => `${job} ${kind}`).slice(0, 6), [
    'a read',
    'a upload',
    'a sort',
    'a write',
    'a other',
    'a checksum',
  ]);
  for (const { rows } of drawn) {
    for (const row of rows) {
      for (const [i, span] of row.entries()) {
        const next = row[i + 1];
        if (next) t.true(next.begin >= span.begin + span.seconds - 0.003);
      }
    }
  }
});

testInBrowser(
  'the page shows all jobs and the timeline, and runs nothing that names bring',
  async (t, visit) => {
    const dom = await visit(htmlReport(report));
    t.regex(dom, /<title>(?!run)/);
    t.is(dom.match(/<rect /g)?.length, 1);
    t.is(dom.match(/<tr class="error">/g)?.length, 2, 'among the failures, and among all');
    t.is(dom.match(/<tr class="(ok|skipped)">/g)?.length, 2);
    t.regex(dom, /1,234/);
  },
);
