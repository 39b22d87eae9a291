import test from 'ava';
import type { BatchEvent, JobResult } from '../../src/batch/events.js';
import type { BatchReport } from '../../src/batch/report/batch-report.js';
import { BatchTimeline } from '../../src/batch/report/batch-timeline.js';
import { htmlReport } from '../../src/batch/report/html.js';
import { junitReport } from '../../src/batch/report/junit.js';
import { markdownReport } from '../../src/batch/report/markdown.js';
import { reportFormat } from '../../src/batch/report/report.js';
import { UsageError } from '../../src/util/errors.js';
import { testInBrowser } from '../browser.js';

const evil = `<script>document.title = 'run'</script>|"&'\u0007`;
const report: BatchReport = {
  name: evil,
  summary: { jobs: 3, ok: 1, done: 0, failed: 1, skipped: 1, seconds: 1.5, startSeconds: 0.25 },
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

test('the JUnit report counts a test case for each job and escapes text', (t) => {
  const xml = junitReport(report);
  t.regex(xml, /<testsuite name="[^"<]*" tests="3" failures="1" errors="0" skipped="1" time="1\.500">/);
  t.is(xml.match(/<testcase /g)?.length, 3);
  t.is(xml.match(/<failure type="ERR_CLSORT_IO"/g)?.length, 1);
  t.is(xml.match(/<skipped\/>/g)?.length, 1);
  t.false(xml.includes('<script>'));
  t.false(xml.includes('\u0007'), 'XML has no such character');
});

test('the Markdown report escapes text in table cells', (t) => {
  const lines = markdownReport(report).split('\n');
  const rows = lines.filter((line) => line.startsWith('| '));
  t.is(rows.length, 2 + 1 + 3);
  for (const row of rows) t.true([5, 8].includes(row.replaceAll('\\|', '').split('|').length), row);
});

test('reports sort jobs by name with numbers in order, and name the device', (t) => {
  const rows = ['file10', 'file2', 'file1'].map((name) => ({
    ...{ name, in: '/a', out: '/b', outcome: 'ok' as const },
    device: { name: 'pthread-skylake-avx512-AMD EPYC' },
  }));
  for (const text of [htmlReport({ ...report, rows }), markdownReport({ ...report, rows })]) {
    t.deepEqual(text.match(/file\d+/g), ['file1', 'file2', 'file10']);
    t.true(text.includes('AMD EPYC (PoCL)'));
    t.false(text.includes('pthread'));
  }
  t.true(htmlReport({ ...report, rows }).includes('<p>Device: AMD EPYC (PoCL)</p>'));
});

test('the timeline names devices, and tells apart two of the same name', (t) => {
  const timeline = new BatchTimeline();
  const add = (job: string, device: string, name: string): void => {
    const listed = { device, report: { device: { name }, readSeconds: 0, seconds: 0.4, writeSeconds: 0 } };
    timeline.handle(endedEvent(job, Date.now(), listed as never));
  };
  add('a', '0:0', 'NVIDIA H200');
  t.is(timeline.tracks()[0]?.name, 'jobs on NVIDIA H200');
  add('b', '0:1', 'NVIDIA H200');
  t.deepEqual(
    timeline.tracks().map(({ name }) => name),
    ['jobs on NVIDIA H200 (0:0)', 'jobs on NVIDIA H200 (0:1)', 'NVIDIA H200 (0:0)', 'NVIDIA H200 (0:1)'],
  );
});

test('the extension of a report selects its format', (t) => {
  t.is(reportFormat('x/Report.HTML'), '.html');
  t.throws(() => reportFormat('report.pdf'), {
    instanceOf: UsageError,
    message: /\.json, \.md, \.xml, \.html/,
  });
});

/** The event of a job that took 2 s. */
function endedEvent(
  name: string,
  began: number,
  listed: Partial<Extract<JobResult, { outcome: 'ok' }>>,
): BatchEvent {
  const report = { readSeconds: 0.5, seconds: 0.4, writeSeconds: 0.25, stages: [] };
  const result = {
    outcome: 'ok',
    job: { name },
    device: 'gpu',
    seconds: 2,
    spans: [],
    began,
    report,
    ...listed,
  };
  return { is: 'end', result: result as unknown as JobResult };
}

test('a timeline draws the steps of jobs at their times, and concurrent jobs in separate rows', (t) => {
  const timeline = new BatchTimeline();
  const epoch = Date.now();
  const add = (name: string, at: number): void => {
    const began = epoch + 1000 * at;
    const steps = [
      ...([
        ['read', 0, 0.5],
        ['wait', 0.5, 0.25],
        ['upload', 0.75, 0.125],
      ] as const),
      ...([
        ['sort', 0.875, 0.5],
        ['write', 1.5, 0.25],
        ['sync', 1.75, 0.125],
      ] as const),
    ];
    const spans = steps.map(([kind, from, seconds]) => ({ kind, began: began + 1000 * from, seconds }));
    timeline.handle(endedEvent(name, began, { spans: spans.toReversed() }));
  };
  add('a', 0);
  add('b', 1);
  add('c', 10);
  const drawn = timeline.tracks();
  t.deepEqual(
    drawn.map(({ name, rows }) => [name, rows.length]),
    [
      ['jobs on gpu', 2],
      ['gpu', 1],
      ['gpu: transfers', 1],
      ['disk', 1],
    ],
  );
  const [first] = drawn[0]?.rows ?? [];
  t.deepEqual(
    first?.map(({ job, kind }) => `${job} ${kind}`).slice(0, 8),
    ['read', 'wait', 'upload', 'sort', 'other', 'write', 'sync', 'other'].map((kind) => `a ${kind}`),
  );
  for (const { rows } of drawn) {
    for (const row of rows) {
      for (const [i, span] of row.entries()) {
        const next = row[i + 1];
        if (next) t.true(next.begin >= span.begin + span.seconds - 0.003);
      }
    }
  }
  // 12 s in total, in which the device sorted three times for half a second.
  const busy = (name: string) => Math.round(1000 * (drawn.find((track) => track.name === name)?.busy ?? 0));
  t.is(busy('gpu'), 125);
  t.is(busy('gpu: transfers'), Math.round(375 / 12));
  t.is(busy('disk'), Math.round((3 * 875 - 0) / 12));
  t.is(drawn[0]?.busy, undefined);
});

test('the report shows the time of transfer threads for each step and in total', (t) => {
  const timeline = new BatchTimeline();
  const began = Date.now();
  const threads = { file: 0.3, hash: 0.1, turn: 0.05, device: 0.05 };
  const spans = (['read', 'sort', 'write'] as const).map((kind, i) => ({
    ...{ kind, began: began + 100 * i, seconds: 0.1 },
    ...(kind !== 'sort' && { threads: { ...threads } }),
  }));
  timeline.handle(endedEvent('moved', began, { spans }));
  const drawn = timeline.tracks();
  t.deepEqual(
    drawn[0]?.rows[0]?.flatMap(({ kind, threads: did }) => (did ? [[kind, did]] : [])),
    [
      ['read', threads],
      ['write', threads],
    ],
  );
  const page = htmlReport({ ...report, timeline: drawn });
  t.regex(
    page,
    /spent 1\.00 s in total: reading and writing 60 %, checksums 20 %, waiting for other threads 10 %/,
  );
  t.notRegex(htmlReport(report), /File threads/);
});

test('the steps of a job without start times are drawn one after the other', (t) => {
  const timeline = new BatchTimeline();
  const began = Date.now();
  timeline.handle(
    endedEvent('table', began, { spans: [{ kind: 'sync', began: began + 1500, seconds: 0.25 }] }),
  );
  t.deepEqual(
    timeline.tracks()[0]?.rows[0]?.map(({ kind }) => kind),
    ['read', 'sort', 'write', 'other', 'sync', 'other'],
  );
});

testInBrowser('the page shows all jobs and the timeline, and runs no script from names', async (t, visit) => {
  const dom = await visit(htmlReport(report));
  t.regex(dom, /<title>(?!run)/);
  t.is(dom.match(/<rect /g)?.length, 1);
  t.is(dom.match(/<tr class="error">/g)?.length, 2, 'among the failures, and among all');
  t.is(dom.match(/<tr class="(ok|skipped)">/g)?.length, 2);
  t.regex(dom, /1,234/);
});
