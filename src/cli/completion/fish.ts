import { ABOUT_OPTIONS, type CommandSpec, type OptionSpec } from '../spec.js';
import { argumentCandidates, type Candidates, candidatesOf, visibleOptions } from './candidates.js';

/** Returns a completion script for fish 3 and later. */
export function fishScript(specs: readonly CommandSpec[]): string {
  const first = '-n __fish_use_subcommand';
  return [
    '# fish completion of clsort; once: clsort completion fish > ~/.config/fish/completions/clsort.fish',
    'complete -c clsort -f',
    `complete -c clsort ${first} -s h -l help -d ${quoteText(ABOUT_OPTIONS.help.describe)}`,
    `complete -c clsort ${first} -s V -l version -d ${quoteText(ABOUT_OPTIONS.version.describe)}`,
    ...specs.map(({ name, describe }) => `complete -c clsort ${first} -a ${name} -d ${quoteText(describe)}`),
    ...specs.flatMap(commandLines),
  ].join('\n');
}

function commandLines(spec: CommandSpec): string[] {
  const begin = `complete -c clsort -n '__fish_seen_subcommand_from ${spec.name}'`;
  const [argument] = spec.arguments;
  return [
    ...visibleOptions(spec).map((option) => `${begin} ${optionText(option)}`),
    ...(argument ? [`${begin} ${offer(argumentCandidates(argument))}`] : []),
  ];
}

function optionText(option: OptionSpec): string {
  const { name, alias, type, describe } = option;
  const short = alias === undefined ? '' : `-s ${alias} `;
  const value = type === 'boolean' ? '' : ` -r ${offer(candidatesOf(option))}`;
  return `${short}-l ${name}${value} -d ${quoteText(describe)}`;
}

function offer(candidates: Candidates): string {
  if (candidates === 'files') return '-F';
  return candidates === 'none' ? '-f' : `-f -a ${quoteText(candidates.join(' '))}`;
}

const quoteText = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
