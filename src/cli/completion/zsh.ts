import { ABOUT_OPTIONS, type ArgumentSpec, type CommandSpec, type OptionSpec } from '../spec.js';
import { argumentCandidates, type Candidates, candidatesOf, formsOf, visibleOptions } from './candidates.js';

/** Returns a completion script for zsh, to be sourced after compinit or installed as `_clsort` in a folder of fpath. */
export function zshScript(specs: readonly CommandSpec[]): string {
  const commands = specs.map(({ name, describe }) => quoteText(`${name}:${describe}`));
  return `#compdef clsort
# zsh completion of clsort; in ~/.zshrc, after compinit: source <(clsort completion zsh)
_clsort() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C \\
    '(-h --help)'{-h,--help}${quoteText(`[${ABOUT_OPTIONS.help.describe}]`)} \\
    '(-V --version)'{-V,--version}${quoteText(`[${ABOUT_OPTIONS.version.describe}]`)} \\
    '1:command:->command' \\
    '*::argument:->argument'
  case $state in
    command)
      local -a commands=(${commands.join(' ')})
      _describe -t commands command commands ;;
    argument)
      case $words[1] in
${specs.map(commandCase).join('\n')}
      esac ;;
  esac
}
if [[ $funcstack[1] == _clsort ]]; then _clsort "$@"; else compdef _clsort clsort; fi`;
}

function commandCase(spec: CommandSpec): string {
  const words = [...visibleOptions(spec).map(optionWord), ...spec.arguments.map(argumentWord)];
  return `        ${spec.name}) _arguments -s ${words.join(' \\\n          ')} ;;`;
}

function optionWord(option: OptionSpec): string {
  const { name, array, type, describe } = option;
  const forms = formsOf(option);
  const value = type === 'boolean' ? '' : `:${name}:${action(candidatesOf(option))}`;
  const text = quoteText(`[${escapeText(describe)}]${value}`);
  if (array) return forms.map((form) => `${quoteText('*')}${form}${text}`).join(' ');
  const besides = quoteText(`(${forms.join(' ')})`);
  return forms.length > 1 ? `${besides}{${forms.join(',')}}${text}` : `${forms[0]}${text}`;
}

const argumentWord = (argument: ArgumentSpec): string =>
  quoteText(`${argument.variadic ? '*' : ''}:${argument.name}:${action(argumentCandidates(argument))}`);

function action(candidates: Candidates): string {
  if (candidates === 'files') return '_files';
  return candidates === 'none' ? ' ' : `(${candidates.join(' ')})`;
}

const escapeText = (text: string): string => text.replaceAll(/[[\]:\\]/g, '\\$&');

const quoteText = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
