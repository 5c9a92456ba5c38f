import { Argument, Command } from 'commander';
import { define } from '../cli/command.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof shells)[number];

/** For each shell, the script that calls `runctl __complete`, which finds the candidates. */
const completionScripts: Record<Shell, string> = {
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
complete -F _runctl runctl
`,
  zsh: `#compdef runctl
# runctl completion for zsh: put this line into ~/.zshrc, after autoload -U compinit; compinit
#   source <(runctl completion zsh)
_runctl() {
  local -a values
  values=("\${(@f)$(runctl __complete zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
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
fi
`,
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
complete -c runctl -f -k -a '(__runctl_complete)'
`,
};

const command = new Command('completion')
  .description('print a shell completion script')
  .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(shells));

export const completion = define(command, {
  ignoresUnknownVariables: true,
  examples: [
    ['eval "$(runctl completion bash)"', 'in ~/.bashrc'],
    ['source <(runctl completion zsh)', 'in ~/.zshrc, after autoload -U compinit; compinit'],
    ['runctl completion fish | source', 'in ~/.config/fish/config.fish'],
  ],
  run: async ([shell]) => ({ script: completionScripts[shell].trimEnd() }),
});
