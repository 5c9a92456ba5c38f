import type { Context, SettingFlags } from '../context.ts';
import type { Automation, Run } from '../core/run.ts';
import { settingTable } from '../settings/table.ts';
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

/** Of the common flags, those that say which service and which run are meant. */
const repeatedFlags: Record<keyof SettingFlags, string> = {
  profile: '--profile',
  baseUrl: '--base-url',
  project: '--project',
  apiKeyFile: '--api-key-file',
};

/** Never the API key, and no variable that isn't a setting, as it may hold another secret. */
const repeatedVariables = Object.values(settingTable)
  .flatMap(({ env }): readonly string[] => env)
  .filter((name) => !name.startsWith('RUNCTL_API_KEY'));

/** `project`: the one in force. */
export function createCommandLine(
  { flags, env, stderr }: Pick<Context, 'flags' | 'env' | 'stderr'>,
  project?: string,
): CommandLine {
  // A log or a mail is read in another shell. As variables, they mean there what they mean here:
  // as a flag, a profile would beat the API key of the environment.
  const variables = stderr.isTTY ? {} : env;
  const assignments = repeatedVariables.flatMap((name) => {
    const value = variables[name];
    return value ? [`${name}=${shellWord(value)}`] : [];
  });
  const given = { ...flags, apiKeyFile: flags.apiKeyFile ?? variables.RUNCTL_API_KEY_FILE };
  const repeated = Object.entries(repeatedFlags).flatMap(([name, flag]) => {
    const value = given[name as keyof typeof repeatedFlags];
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
      // `config` stores an API key, and some users give it in place of its file's path.
      const isConfig = typed.startsWith('runctl config');
      const missing = repeated.filter(
        ({ flag }) => !typed.includes(` ${flag} `) && !(isConfig && flag === '--api-key-file'),
      );
      return [...assignments, typed, ...missing.map(({ words }) => words)].join(' ');
    },
    automation: automationWord,
    run: ({ automation, executionId, isLastRun }) =>
      isLastRun && stderr.isTTY
        ? automationWord(automation)
        : `${automation.projectId}/${automation.name}/${executionId}`,
  };
}
