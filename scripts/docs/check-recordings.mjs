// Checks the recordings of the course: each equals the current output of its command, and is used on a page. Changed
// layout or line numbers of kernel sources are accepted; changed numbers are not.

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { docs, writtenPages } from './pages.mjs';
import { kept, RECORDINGS, record, recordedNames } from './recordings.mjs';

/** Returns the compared part of a recording: everything except the positions of steps in the source. */
const shown = ({ command, explanation: { sources, ...rest } }) => ({
  command,
  ...rest,
  kernels: Object.keys(sources).sort(),
  steps: rest.steps.map(({ source, ...step }) => ({ ...step, kernel: source.name })),
});

function difference(name) {
  const [now, then] = [record(RECORDINGS[name]), kept(name)].map(shown);
  if (isDeepStrictEqual(now, then)) return [];
  const fields = Object.keys(now).filter((field) => !isDeepStrictEqual(now[field], then[field]));
  return [
    `${name} is not what its command shows now (${fields.join(', ')}): node scripts/docs/recordings.mjs`,
  ];
}

export function check() {
  const names = Object.keys(RECORDINGS);
  const files = new Set(recordedNames());
  const text = writtenPages()
    .filter((page) => page.startsWith('course/'))
    .map((page) => readFileSync(`${docs}/${page}`, 'utf8'))
    .join('\n');
  const problems = names.flatMap((name) => [
    ...(files.has(name) ? difference(name) : [`${name} is not kept: node scripts/docs/recordings.mjs`]),
    ...(text.includes(`recordings/${name}.json`) ? [] : [`${name} stands on no page of the course`]),
  ]);
  for (const file of files) if (!names.includes(file)) problems.push(`${file}: no page shows this recording`);
  return { summary: `${names.length} recordings`, problems };
}
