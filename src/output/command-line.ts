import type { Context } from '../context.ts';
import type { Automation, Run } from '../run/run.ts';
import { shellWord } from '../text/shell-word.ts';

/** Writes commands to type, which mean the same service and the same run as this command. */
export interface CommandLine {
  /** Words after `runctl`, such as `['watch', 'nightly']`, or a command that is quoted already. */
  complete(command: string | readonly string[]): string;
  /** An automation as an argument: its name alone only if that means it. */
  automation(automation: Automation): string;
  /** A run as an argument: on a terminal its automation's name, if that means it; else its path. */
  run(run: Run): string;
}

const repeatedFlags = [
  { flag: '--profile', name: 'profile', variable: 'RUNCTL_PROFILE' },
  { flag: '--base-url', name: 'baseUrl', variable: 'RUNCTL_BASE_URL' },
  { flag: '--project', name: 'project', variable: 'RUNCTL_PROJECT' },
  { flag: '--api-key-file', name: 'apiKeyFile', variable: 'RUNCTL_API_KEY_FILE' },
] as const;

/** `project`: the one in force. */
export function createCommandLine(
  { flags, env, stderr }: Pick<Context, 'flags' | 'env' | 'stderr'>,
  project?: string,
): CommandLine {
  // A log or a mail is read in another shell. A profile that is named beats the environment, which
  // as flags would beat the profile.
  const isReadElsewhere = !stderr.isTTY && flags.profile === undefined;
  const repeated = repeatedFlags.flatMap(({ flag, name, variable }) => {
    const value = flags[name] ?? (isReadElsewhere ? env[variable] : undefined);
    return value ? [{ flag, words: `${flag} ${shellWord(value)}` }] : [];
  });
  const automationWord = ({ projectId, name }: Automation) => {
    const isPlain = !name.includes('/') && name !== '@' && name !== '@last';
    return isPlain && projectId === project ? name : `${projectId}/${name}`;
  };
  return {
    complete(command) {
      const isWords = typeof command !== 'string';
      const typed = isWords ? ['runctl', ...command].map(shellWord).join(' ') : command;
      // The help is the same for all services.
      if (!/^runctl (?!help)/.test(typed)) return typed;
      const missing = repeated.filter(({ flag }) => !typed.includes(` ${flag} `));
      return [typed, ...missing.map(({ words }) => words)].join(' ');
    },
    automation: automationWord,
    run: ({ automation, executionId, isLastRun }) =>
      isLastRun && stderr.isTTY
        ? automationWord(automation)
        : `${automation.projectId}/${automation.name}/${executionId}`,
  };
}
