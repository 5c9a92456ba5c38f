import type { Argument, Command, Option } from 'commander';
import { configKeys } from '../settings/table.ts';
import { type CommandResult, done, subcommandNamed } from './command.ts';
import { topics } from './help.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * Each has `runctl __complete` find the candidates, and passes on what was typed as it is, so that
 * nothing in it is evaluated.
 */
const scripts: Record<Shell, string> = {
  bash: `# runctl completion for bash: put this line into ~/.bashrc
#   source <(runctl completion bash)
_runctl() {
  local line
  COMPREPLY=()
  compopt +o default 2>/dev/null
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("$line")
    fi
  done < <(runctl __complete bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -o default -F _runctl runctl`,
  zsh: `#compdef runctl
# runctl completion for zsh: put this line into ~/.zshrc, after autoload -U compinit; compinit
#   source <(runctl completion zsh)
_runctl() {
  local -a values
  values=("\${(@f)$(runctl __complete zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $values[1] == :files ]]; then
    _files
  elif [[ -n $values[1] ]]; then
    _describe -V runctl values
  fi
}
if [[ $funcstack[1] == _runctl ]]; then
  _runctl "$@"
else
  compdef _runctl runctl
fi`,
  fish: `# runctl completion for fish: put this line into ~/.config/fish/config.fish
#   runctl completion fish | source
function __runctl_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l values (runctl __complete fish $words[2..-1] 2>/dev/null)
    if test "$values[1]" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $values
    end
end
complete -c runctl -f -k -a '(__runctl_complete)'`,
};

/** Prints the script that a shell has to read to complete runctl's command lines. */
export const completion = (shell: Shell): CommandResult =>
  done({ shell, script: scripts[shell] }, scripts[shell]);

interface Candidate {
  value: string;
  description?: string;
}

/**
 * Answers a completion script: the candidates for the last word that was typed, one a line;
 * `:files` asks for file names. The script gives the shell's name, and the words that were typed as
 * they are: bash the line up to the cursor, the others the words after `runctl`.
 */
export function complete(
  shell: Shell,
  typed: readonly string[],
  program: Command,
  automations: () => readonly string[],
): string {
  const words = shell === 'bash' ? splitLine(typed[0] ?? '') : typed;
  const last = words.at(-1) ?? '';
  const word = unquote(last);
  const place = placeAfter(words.slice(0, -1).map(unquote), program);
  const isFlag = word.startsWith('-') && !place.option && !place.isPastOptions;
  const candidates = isFlag
    ? flagCandidates(place.command)
    : candidatesAt(place, program, automations);
  if (candidates === 'files') return ':files\n';
  return candidates
    .filter(({ value }) => value.startsWith(word) && !/\p{Cc}/u.test(value))
    .map((candidate) => `${candidateLine(candidate, shell, last)}\n`)
    .join('');
}

function candidatesAt(
  { command, option, argument, operands }: ReturnType<typeof placeAfter>,
  program: Command,
  automations: () => readonly string[],
): Candidate[] | 'files' {
  if (option) return valuesOf(option, automations);
  if (command.commands.length > 0) return subcommandsOf(command);
  if (argument?.name() === 'topic') {
    const others = operands.length === 0 ? [...topics.keys()].map((value) => ({ value })) : [];
    return [...subcommandsOf(commandAt(operands, program)), ...others];
  }
  return argument ? valuesOf(argument, automations) : [];
}

/** The command that these words name, as `help` takes them. */
const commandAt = (words: readonly string[], program: Command): Command =>
  words.reduce((one, word) => subcommandNamed(one, word) ?? one, program);

/** What the word after these can be: the value of an option, an argument, a flag, a command. */
function placeAfter(words: readonly string[], program: Command) {
  let command = program;
  let option: Option | undefined;
  const operands: string[] = [];
  let isPastOptions = false;
  for (const word of words) {
    const subcommand = subcommandNamed(command, word);
    if (option) option = undefined;
    else if (isPastOptions) operands.push(word);
    else if (word === '--') isPastOptions = true;
    else if (/^-./.test(word)) option = optionOf(command, word);
    else if (subcommand) command = subcommand;
    else operands.push(word);
  }
  const last = command.registeredArguments.at(-1);
  const argument =
    command.registeredArguments[operands.length] ?? (last?.variadic ? last : undefined);
  return { command, option, argument, operands, isPastOptions };
}

/** The option of this flag, if it takes a value. */
const optionOf = (command: Command, flag: string) =>
  command.options.find((option) => option.required && [option.short, option.long].includes(flag));

const flagCandidates = ({ options }: Command): Candidate[] =>
  options.map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));

const subcommandsOf = ({ commands }: Command): Candidate[] =>
  commands.map((each) => ({ value: each.name(), description: each.description() }));

/** The values that definitions and journal have. */
function valuesOf(
  place: Option | Argument,
  automations: () => readonly string[],
): Candidate[] | 'files' {
  const name = 'flags' in place ? /<(\w+)>/.exec(place.flags)?.[1] : place.name();
  if (name === 'path') return 'files';
  const isAutomation = name === 'automation' || name === 'run';
  const ofName = isAutomation ? automations() : name === 'setting' ? configKeys : [];
  return (place.argChoices ?? ofName).map((value) => ({ value }));
}

/** The words after the program's, quoted as they are. The last one is typed up to the cursor. */
function splitLine(line: string): string[] {
  const words = [...line.matchAll(/(?:\\.?|'[^']*'?|"(?:\\.|[^"\\])*"?|[^\s\\'"])+/gs)];
  const last = words.at(-1);
  const isAtEnd = last !== undefined && last.index + last[0].length === line.length;
  return [...words.slice(1).map(([word]) => word), ...(isAtEnd ? [] : [''])];
}

/** Without quotes and escapes. Nothing is expanded. */
const unquote = (word: string): string =>
  word.replace(
    /\\(.?)|'([^']*)'?|"((?:\\.|[^"\\])*)"?/gs,
    (_, escaped, single, double) => escaped ?? single ?? double.replace(/\\(["$`\\])/g, '$1'),
  );

function candidateLine({ value, description }: Candidate, shell: Shell, typed: string): string {
  if (shell === 'bash') return bashWord(value, typed);
  if (shell === 'fish') return `${value}\t${description ?? ''}`;
  const escaped = value.replace(/[\\:]/g, '\\$&');
  return description ? `${escaped}:${description}` : escaped;
}

/** Quoted as the typed word is. The other shells do that themselves. */
function bashWord(value: string, typed: string): string {
  const [openQuote] = typed.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, '').match(/['"]/) ?? [];
  if (openQuote === '"') return value.replace(/["$`\\!]/g, '\\$&');
  if (openQuote === "'") return value.replaceAll("'", "'\\''");
  // Readline ends a word after `=` and `:` and before `@`, and replaces only what follows.
  const word = unquote(typed);
  const replaced = word.replace(/^.*(?:[=:]|(?=@))/s, '');
  return value.slice(word.length - replaced.length).replace(/[^\w@%+=:,./-]/gu, '\\$&');
}
