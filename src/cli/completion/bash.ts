import type { CommandSpec } from '../spec.js';
import { argumentCandidates, type Candidates, candidatesOf, formsOf, visibleOptions } from './candidates.js';

/**
 * Returns a completion script for bash 3.2 and later. Without candidates, bash completes file names by default; the
 * script suppresses that with `compopt`, which exists since bash 4.
 */
export function bashScript(specs: readonly CommandSpec[]): string {
  const about = ['--help', '--version'];
  return `# bash completion of clsort; in ~/.bashrc: source <(clsort completion bash)
_clsort_words() { COMPREPLY=($(compgen -W "$1" -- "$word")); [[ $COMPREPLY ]] || _clsort_nothing; }
_clsort_nothing() { COMPREPLY=(); compopt +o default 2>/dev/null; }
_clsort() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command='' at
  COMPREPLY=()
  # bash splits '--name=value' into three words.
  if [[ $word == '=' ]]; then word=''; elif [[ $before == '=' ]]; then before=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  [[ $before == '=' ]] && before=\${COMP_WORDS[COMP_CWORD - 2]}
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ \${COMP_WORDS[at]} != -* ]]; then command=\${COMP_WORDS[at]}; break; fi
  done
  case $command in
    '') _clsort_words '${[...specs.map(({ name }) => name), ...about].join(' ')}' ;;
${specs.map(commandCase).join('\n')}
    *) _clsort_nothing ;;
  esac
}
complete -o default -F _clsort clsort`;
}

function commandCase(spec: CommandSpec): string {
  const options = visibleOptions(spec);
  const values = options
    .filter(({ type }) => type !== 'boolean')
    .map((option) => `        ${formsOf(option).join('|')}) ${offer(candidatesOf(option))}; return ;;`);
  const words = options.flatMap(formsOf).join(' ');
  const [argument] = spec.arguments;
  return `    ${spec.name})
      case $before in
${[...values, '        *) ;;'].join('\n')}
      esac
      case $word in
        -*) _clsort_words '${words}' ;;
        *) ${offer(argument ? argumentCandidates(argument) : 'none')} ;;
      esac ;;`;
}

function offer(candidates: Candidates): string {
  if (candidates === 'files') return ':';
  return candidates === 'none' ? '_clsort_nothing' : `_clsort_words '${candidates.join(' ')}'`;
}
