import { type CommandDefinition, noColor, type OptionDefinition, type Options } from './define-command.ts';
import { outputOptions, settingOptions } from './options.ts';

const shared: Options = { ...outputOptions, ...settingOptions, noColor };

/** `-w` and `--watch` of `-w, --watch <form>`. */
export const namesOf = ({ flags }: OptionDefinition): string[] => flags.match(/(?<!\S)--?[\w-]+/g) ?? [];

/** `--profile staging list` becomes `list --profile staging`: shared flags follow the command's name. */
export function hoistFlags(argv: readonly string[], { commands = [] }: CommandDefinition): readonly string[] {
  let end = 0;
  for (let word = argv[end]; word?.startsWith('-'); word = argv[end]) {
    const [name = '', value] = word.split('=', 2);
    const option = Object.values(shared).find((each) => namesOf(each).includes(name));
    if (!option) return argv;
    end += option.flags.includes('<') && value === undefined ? 2 : 1;
  }
  if (end === 0 || end >= argv.length) return argv;
  const inner = commands.find(({ name }) => name === argv[end])?.commands;
  const behind = end + (inner?.some(({ name }) => name === argv[end + 1]) ? 2 : 1);
  return [...argv.slice(end, behind), ...argv.slice(0, end), ...argv.slice(behind)];
}
