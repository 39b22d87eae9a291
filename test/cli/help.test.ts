import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import yargs, { type Argv } from 'yargs';
import * as candidates from '../../src/cli/completion/candidates.js';
import { EXIT_CODES } from '../../src/cli/exit-code.js';
import { helpText } from '../../src/cli/help.js';
import { ABOUT_OPTIONS, type CommandSpec, GLOBAL_OPTIONS } from '../../src/cli/spec.js';
import { allSpecs } from '../../src/cli/specs.js';
import { packageRoot } from '../../src/util/paths.js';
import { clsort } from './cli.js';

const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

/** Returns the number of command lines under Examples. */
const examplesIn = (text: string, name: string): number => {
  const [examples = ''] = text.split('Examples:\n')[1]?.split('\n\n') ?? [];
  return examples.split(`clsort ${name}`).length - 1;
};

const yargsFor = (width: number): Argv =>
  yargs([]).scriptName('clsort').help(false).version(false).wrap(width);

/** Returns the overview of all commands as yargs lays it out. */
function overviewByYargs(specs: readonly CommandSpec[], width: number): Promise<string> {
  const codes = EXIT_CODES.map((one) => one.join(' ')).join(', ');
  const parser = yargsFor(width)
    .options({ ...GLOBAL_OPTIONS, ...ABOUT_OPTIONS })
    .usage('$0 <command>\n\nSort large numeric files on any OpenCL device and verify the result.')
    .epilogue(
      `Exit codes: ${codes}\n'clsort COMMAND --help' shows options and examples; 'clsort man' prints the manual page.`,
    );
  for (const { command, describe } of specs) parser.command(command, describe);
  return parser.getHelp();
}

/** Returns the short help of a command as yargs lays it out. */
function commonHelpByYargs(spec: CommandSpec, width: number): Promise<string> {
  const parser = yargsFor(width).usage(`$0 ${spec.command}\n\n${spec.describe}`);
  for (const one of spec.arguments) parser.positional(one.name, { describe: one.describe });
  for (const [title, names] of spec.groups) {
    parser.group(names, title);
    for (const { name, alias, describe, choices, required, default: value } of spec.options) {
      if (!names.includes(name)) continue;
      parser.option(name, {
        describe,
        ...(alias && { alias }),
        ...(choices && { choices }),
        ...(value !== false && { default: value }),
        demandOption: required,
      });
    }
  }
  for (const [line, what] of spec.examples.slice(0, 3)) parser.example(line, what);
  return parser.epilogue(`All options: clsort ${spec.name} --help=all`).getHelp();
}

test('the overview and the short help are laid out as by yargs', async (t) => {
  const specs = await allSpecs();
  for (const width of [60, 80, 100]) {
    for (const spec of specs) {
      t.is(await helpText(spec.name, width), await commonHelpByYargs(spec, width), `${spec.name} ${width}`);
    }
    t.is(await helpText(undefined, width), await overviewByYargs(specs, width), String(width));
  }
});

test('help fits the terminal up to 100 columns, and 80 columns without a terminal', async (t) => {
  const names = [undefined, ...(await allSpecs()).map(({ name }) => name)];
  for (const name of names) {
    for (const [columns, max] of [
      [undefined, 80],
      [0, 80],
      [72, 72],
      [100, 100],
      [300, 100],
    ] as const) {
      for (const all of [false, true]) {
        const width = widest(await helpText(name, columns, all));
        t.true(width <= max, `${name} in ${columns}: ${width}`);
      }
    }
  }
  const { code, out } = await clsort(['sort', '--help']);
  t.is(code, 0);
  t.true(widest(out) <= 80);
});

test('--help fits 80 by 40 characters, with at most 12 options and 3 examples', async (t) => {
  for (const spec of await allSpecs()) {
    const { name, describe } = spec;
    const text = await helpText(name, 80);
    const lines = text.split('\n');
    t.true(widest(text) <= 80 && lines.length <= 40, `${name}: ${lines.length} lines`);
    t.deepEqual(lines.slice(0, 3), [`clsort ${spec.command}`, '', describe]);
    t.is(lines.at(-1), `All options: clsort ${name} --help=all`);
    const common = spec.groups.flatMap(([, names]) => names);
    const options = lines.slice(0, lines.indexOf('Examples:')).flatMap((line) => {
      const [, long, short] = /^ +(?:-\w, )?(?:--([\w-]+)|-(\w)) /.exec(line) ?? [];
      return long ?? short ?? [];
    });
    t.deepEqual(options.toSorted(), common.toSorted(), name);
    t.true(options.length <= 12, name);
    for (const { name: option, required } of spec.options)
      t.true(!required || common.includes(option), option);
    t.is(examplesIn(text, name), Math.min(spec.examples.length, 3), name);
  }
});

test('--help=all lists every option', async (t) => {
  for (const spec of await allSpecs()) {
    const text = await helpText(spec.name, 80, true);
    for (const { name } of candidates.visibleOptions(spec)) {
      t.regex(text, new RegExp(`^ +(-\\w, )?--?${name}\\b`, 'm'), `${spec.name} --${name}`);
    }
    for (const { name } of spec.options.filter(({ hidden }) => hidden)) {
      t.notRegex(text, new RegExp(`^ +--${name}\\b`, 'm'), `${spec.name} --${name}`);
    }
    t.is(examplesIn(text, spec.name), spec.examples.length, spec.name);
  }
});

test('--help=all and -h are recognised on the command line', async (t) => {
  const [short, all] = await Promise.all([helpText('sort'), helpText('sort', 80, true)]);
  for (const [args, expected] of [
    [['sort', '-h'], short],
    [['help', 'sort'], short],
    [['sort', '--help=all'], all],
    [['help', 'sort', '--help=all'], all],
  ] as const) {
    t.is((await clsort(args)).out.trimEnd(), expected.trimEnd(), args.join(' '));
  }
  const wrong = await clsort(['sort', '--help=al']);
  t.is(wrong.code, 2);
  t.regex(wrong.err, /expected no value or all for --help but got "al"/);
});

test('the reference page of the command lists every option', async (t) => {
  const { commandPage } = await import(
    pathToFileURL(join(packageRoot, 'scripts/docs/command-page.mjs')).href
  );
  const specs = await allSpecs();
  const page: string = await commandPage({ specs, candidates, help: helpText, exitCodes: [], variables: [] });
  for (const spec of specs) {
    const [section = ''] = page.split(`\n## clsort ${spec.name}\n`)[1]?.split('\n## ') ?? [];
    for (const { name } of candidates.visibleOptions(spec)) {
      if (!['quiet', 'help', 'version'].includes(name)) {
        t.regex(section, new RegExp(`--?${name}\\b`), `${spec.name} --${name}`);
      }
    }
  }
});
