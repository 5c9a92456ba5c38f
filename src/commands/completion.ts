import { Problem } from '../run/report.ts';
import type { CommandResult } from './command.ts';

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
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("$line")
    fi
  done < <(runctl __complete bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _runctl runctl`,
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
export function completion(shell: string): CommandResult {
  if (!isShell(shell)) throw new Problem(`"${shell}" isn't ${shells.join(', ')}`);
  const text = scripts[shell];
  const document = { shell, script: text };
  return { reports: [{ kind: 'done', exit: 'ok', text, document }], show: 'text' };
}

const isShell = (text: string): text is Shell => Object.hasOwn(scripts, text);
