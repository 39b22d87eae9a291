import type { FileReport } from '../io/file-sort/file-job.js';
import { formatDelimiter } from '../io/formats/text/text-options.js';
import { dtypeInfo } from '../keys/dtype.js';
import type { StageReport, Verified } from '../sort/model/report.js';
import { grouped, secondsText, table } from './table.js';

/** Formats the report as `--json` prints it. A field that does not apply is null. */
export function reportJson(report: FileReport, warnings: readonly string[]): string {
  const {
    n,
    distinct,
    device,
    algorithm,
    reason,
    facts = null,
    verified = null,
    records = null,
    table = null,
  } = report;
  const dtype = records || table ? null : report.dtype;
  const { descending, argsort, stages, seconds, readSeconds, writeSeconds, external = null } = report;
  const [from, to] = report.formats;
  const order = { descending, argsort };
  const json = {
    schema: 'clsort.sort/1',
    n,
    ...(distinct !== undefined && { distinct }),
    dtype,
    records,
    table,
    shape: report.shape,
    formats: { from, to },
    ...order,
    device,
    algorithm,
    reason,
    ...(report.shares && { shares: report.shares }),
    facts,
    verified,
    stages,
  };
  return JSON.stringify({ ...json, seconds, readSeconds, writeSeconds, external, warnings }, null, 2);
}

/** Formats the report for people. Its last line is the result of the verification. */
export function reportText(report: FileReport): string {
  const { n, device, algorithm, facts = {}, verified, seconds, stages } = report;
  const details = [
    ...Object.entries(facts).map(
      ([name, value]) => `${name} ${typeof value === 'number' ? grouped(value) : value}`,
    ),
    report.reason,
  ];
  const platform = device.platform === undefined ? '' : `, ${device.platform}, driver ${device.driver}`;
  const lines = [
    `${report.argsort ? 'positions of' : 'sorted'} ${grouped(n)} ${sortedText(report)}${distinctText(report)}`,
    `device     ${device.name} (${device.type}${platform})`,
    `algorithm  ${algorithm} (${details.join('; ')})`,
    ...(report.shares ?? []).map(
      (share) =>
        `share      ${grouped(share.n)} on ${share.device.id} ${share.device.name}, ${share.algorithm}, ${secondsText(share.seconds)}`,
    ),
    report.external
      ? externalText(report.external, n)
      : `seconds    ${secondsText(seconds)} sort, ${speed(n, seconds)}; ${secondsText(report.readSeconds)} read, ${secondsText(report.writeSeconds)} write`,
  ];
  if (stages.length > 0) lines.push('', stageTable(report), '');
  if (verified) lines.push(verifiedText(verified));
  return lines.join('\n');
}

/** Formats the result of the verification. */
export const verifiedText = ({ order, permutation }: Verified): string =>
  `verified: order ${order ? 'right' : 'WRONG'}, permutation ${permutation ? 'right' : 'WRONG'}`;

/** Describes the sorted data and its order, such as 'u32 keys, ascending'. */
function sortedText({ dtype, shape, descending, records, table }: FileReport): string {
  if (table) {
    const { by, runs, spilledBytes = 0 } = table;
    const spilled = runs === undefined ? '' : `; ${runs} runs, ${bytesText(spilledBytes)} of temporary files`;
    return `rows by ${by.join(', ')}; ${grouped(shape[0] ?? 0)} kept${spilled}${textText(table.text)}`;
  }
  if (records) return `records of ${records.record} bytes, by ${records.keys.join(', ')}`;
  const ofShape = shape.length > 1 ? ` (${shape.map(grouped).join(' × ')})` : '';
  return `${dtype} keys${ofShape}, ${descending ? 'descending' : 'ascending'}`;
}

/** Describes the detected CSV dialect and the types by which keys were compared. */
function textText(text: NonNullable<FileReport['table']>['text']): string {
  if (!text) return '';
  const { delimiter, header, types } = text;
  const csv =
    delimiter === undefined
      ? ''
      : `${delimiter === '' ? 'one column' : `delimiter '${formatDelimiter(delimiter)}'`}, ${header ? 'a' : 'no'} header; `;
  return `\ntext       ${csv}compared as ${types.join(', ') || 'nothing'}`;
}

/** Returns the number of distinct keys written, when `--unique` is set. */
const distinctText = ({ distinct }: FileReport): string =>
  distinct === undefined ? '' : `, ${grouped(distinct)} distinct`;

/** Describes a partitioned sort. */
function externalText(
  { partitions, spilledBytes, resumedBytes, seconds }: NonNullable<FileReport['external']>,
  n: number,
): string {
  const { sample, partition, sort } = seconds;
  const where =
    spilledBytes > 0 || resumedBytes > 0 ? `${bytesText(spilledBytes)} of temporary files` : 'in memory';
  const resumed = resumedBytes > 0 ? `, ${bytesText(resumedBytes)} sorted before` : '';
  const times = `${secondsText(sample)} sample, ${secondsText(partition)} partition, ${secondsText(sort)} sort and write`;
  return `partitions ${grouped(partitions)}, ${where}${resumed}\nseconds    ${times}, ${speed(n, sample + partition + sort)}`;
}

const bytesText = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

const isTransfer = ({ stage }: StageReport): boolean => stage === 'upload' || stage === 'download';

function stageTable({ n, dtype, argsort, stages }: FileReport): string {
  const sum = (list: readonly StageReport[]): number | null =>
    list.some(({ seconds }) => seconds === null)
      ? null
      : list.reduce((all, { seconds }) => all + (seconds ?? 0), 0);
  const total = sum(stages);
  const row = (name: string, launches: number, seconds: number | null, rate: string): string[] => [
    name,
    String(launches),
    seconds === null ? 'n/a' : (seconds * 1000).toFixed(3),
    seconds === null || !total ? 'n/a' : `${((seconds / total) * 100).toFixed(1)} %`,
    rate,
  ];
  // A device that works in host memory has no uploads, and its downloads copy no keys.
  const isCopied = stages.some(({ stage }) => stage === 'upload');
  const bytesPerKey = (stage: string): number =>
    stage === 'download' && argsort ? 4 : dtypeInfo(dtype).bytes;
  const rows = stages.map((stage) => {
    const { seconds, launches } = stage;
    const rate = isTransfer(stage)
      ? perSecond(isCopied ? n * bytesPerKey(stage.stage) : 0, seconds, 'GB/s')
      : perSecond(n * launches, seconds, 'Gkeys/s');
    return row(stage.stage, launches, seconds, rate);
  });
  const kernels = stages.filter((stage) => !isTransfer(stage));
  const launches = kernels.reduce((all, stage) => all + stage.launches, 0);
  const kernelSeconds = sum(kernels);
  const last = row('all kernels', launches, kernelSeconds, perSecond(n, kernelSeconds, 'Gkeys/s'));
  return table(
    [['stage', 'launches', 'ms', 'share', 'rate'], ...rows, last],
    ['left', 'right', 'right', 'right', 'right'],
  );
}

function perSecond(amount: number, seconds: number | null, unit: string): string {
  if (!seconds || amount === 0) return 'n/a';
  return `${(amount / seconds / 1e9).toFixed(3)} ${unit}`;
}

const speed = (n: number, seconds: number): string =>
  seconds > 0 ? `${(n / seconds / 1e6).toPrecision(3)} Mkeys/s` : 'n/a';
