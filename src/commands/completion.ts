import { argument, defineCommand } from '../cli/define-command.ts';
import { completionScripts, shells } from './completion-scripts.ts';

export const completion = defineCommand({
  name: 'completion',
  about: 'print the completion script of a shell',
  arguments: { shell: argument('<shell>', 'the shell that you use', shells) },
  examples: [
    ['eval "$(runctl completion bash)"', 'in ~/.bashrc'],
    ['source <(runctl completion zsh)', 'in ~/.zshrc'],
    ['runctl completion fish | source', 'in ~/.config/fish/config.fish'],
  ],
  run: async ({ shell }) => ({ verbatim: completionScripts[shell].trimEnd() }),
});
