import { Sorter } from '../../sort/api/sorter.js';
import { type Console, print } from '../console.js';
import { deviceOfChild } from '../device-arguments.js';
import { examine, type Finding, LIST, openclFacts } from '../doctor-checks.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { DoctorArguments } from '../options/doctor.js';
import { table } from '../table.js';

export async function run(args: DoctorArguments, console: Console): Promise<ExitCode> {
  if (args.child === LIST) {
    print(console, JSON.stringify(openclFacts()));
    return EXIT.ok;
  }
  if (args.child !== undefined) return testDevice(args.child, console);
  const findings = await examine();
  print(
    console,
    args.json ? JSON.stringify({ schema: 'clsort.doctor/1', findings }, null, 2) : textOf(findings),
  );
  if (findings.some(({ area, state }) => state === 'problem' && ['addon', 'self-test'].includes(area)))
    return EXIT.device;
  return findings.some(({ area, state }) => area === 'self-test' && state === 'ok') ? EXIT.ok : EXIT.noDevice;
}

const SIGNS = { ok: 'ok', note: '-', problem: '!!' } as const;

function textOf(findings: readonly Finding[]): string {
  const rows = findings.map(({ area, state, text }) => [SIGNS[state], area, text]);
  const fixes = findings.flatMap(({ text, fix }) => (fix === undefined ? [] : [`  ${text}\n    ${fix}`]));
  const advice = fixes.length > 0 ? `\n\nWhat to do:\n${fixes.join('\n')}` : '\n\nNothing is wrong.';
  return table(rows) + advice;
}

const KEYS = 2 ** 18;
const SECONDS = 1;

/** Sorts on a device for a second, verifies each result, and prints the speed. */
async function testDevice(name: string, console: Console): Promise<ExitCode> {
  await using sorter = await Sorter.open({ device: deviceOfChild(name).id });
  const keys = Uint32Array.from({ length: KEYS }, (_, i) => Math.imul(i, 2654435761));
  await sorter.sort(keys, { verify: true }); // compiles and tests the kernels
  let sorts = 0;
  const started = performance.now();
  do {
    await sorter.sort(keys, { verify: true });
    sorts++;
  } while (performance.now() - started < SECONDS * 1000);
  const perSecond = (sorts * KEYS) / (performance.now() - started) / 1000;
  print(console, `${sorts} verified sorts in a second, ${perSecond.toFixed(0)} million keys/s`);
  return EXIT.ok;
}
