import type { CommandContext } from '../context.ts';
import type { CommandResult } from '../output/command-result.ts';
import { renderFields } from '../output/fields.ts';
import { renderMarkup, themeOf } from '../output/theme.ts';
import { wrapOptionsOf } from '../output/wrap.ts';
import { askLine } from '../settings/prompts.ts';
import { setUp } from './config.ts';

const commands = [
  ['runctl config', 'set the base URL, your API key and the project'],
  ['runctl trigger nightly --watch', 'start a run and follow it until it finishes'],
  ['runctl watch @last', 'follow the last run again'],
  ['runctl list', 'list the runs started or watched here'],
  ['runctl recover', 'resolve triggers whose response was lost'],
  ['runctl --help', 'show every command'],
] as const;

/** If no base URL is set, prints what runctl is for and asks whether to set it up now. */
export async function introduce(context: CommandContext): Promise<CommandResult | number> {
  const { stdout } = context;
  const theme = themeOf(stdout, context);
  const lines = wrapOptionsOf(stdout);
  const purpose = 'Start Automation runs, follow them, and get an exit code you can trust.';
  const withoutAccount =
    'Try it without an account: `runctl emulator -- runctl trigger nightly --watch`';
  stdout.write(`${renderMarkup(purpose, theme, lines)}\n\n`);
  stdout.write(
    renderFields(
      commands.map(([line, description]) => [line, `# ${description}`]),
      theme,
      { ...lines, indent: 2 },
    ),
  );
  stdout.write(`\n${renderMarkup(withoutAccount, theme, lines)}\n\n`);
  const answer = await askLine("No base URL is set. Run 'runctl config' now? [Y/n] ", context);
  if (/^(y|yes)?$/i.test(answer.trim())) return setUp({}, context);
  return { forPeople: { next: 'when you are ready: `runctl config`' } };
}
