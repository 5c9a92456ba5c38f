import { Command, Option } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { automationHelp, withWatchFlags } from '../cli/options.ts';
import { automationPlaceholder, idempotencyKey } from '../cli/values.ts';
import { flawOfAutomation, parseAutomationArgument } from '../connection/arguments.ts';
import type { Connection } from '../connection/connection.ts';
import { automationsIn } from '../connection/known-automations.ts';
import { journalOf } from '../connection/open-journal.ts';
import type { CommandContext } from '../context.ts';
import type { CommandResult } from '../output/command-result.ts';
import { maxIdempotencyKey } from '../run/limits.ts';
import type { OutcomeOf } from '../run/outcome.ts';
import { usageProblem } from '../run/problem.ts';
import { quotedName, shellWord } from '../run/quote.ts';
import { fullNameOf, randomUuid, type Target } from '../run/run.ts';
import { triggerPath } from '../service/endpoints.ts';
import { requiredValue, resolveWithoutApiKey } from '../settings/resolve.ts';
import { optionalValue } from '../settings/table.ts';
import type { StartRequest } from '../start/trigger-result.ts';
import { triggerAll } from './trigger-all.ts';
import { connectToWatch } from './watch-and-report.ts';

const command = withWatchFlags(
  new Command('trigger')
    .description('start a run, and with --watch follow it until it finishes')
    .argument('<automation...>', automationHelp)
    .option('-w, --watch', 'follow the run until it finishes, then print its summary')
    .addOption(
      new Option(
        '--if-active <what>',
        "if it's already running: fail (default), skip, or wait for it (up to --timeout), then start",
      ).choices(['fail', 'skip', 'wait']),
    )
    .option('--dry-run', 'show what would be sent without sending it')
    .optionsGroup('Starting:')
    .option(
      '--idempotency-key <key>',
      `makes repeats safe: one key starts one run (${automationPlaceholder} stands for project and name)`,
      idempotencyKey,
    ),
);

type TriggerOptions = OptionsOf<typeof command>;

// A longer list of names would push the example off the screen.
const maxNamed = 8;

export const trigger = define(command, {
  triggersRuns: true,
  flawOf: flawOfAutomation,
  examples: [
    ['id=$(runctl trigger nightly)', 'start a run, keep its id'],
    ['runctl trigger nightly --watch', 'follow it and exit with its code'],
    ['runctl trigger nightly --if-active skip', "exit with 0 if it's running"],
    [
      'runctl trigger nightly --idempotency-key "nightly-$(date +%F)"',
      'start at most one run a day',
    ],
  ],
  whenMissing: recordedNamesHint,
  async run([names], options, context) {
    checkFlagsThatNeedOthers(options);
    const idempotencyKeyOf = parseKeyTemplate(options, names.length);
    const connection = await connectToWatch(options, context, { quiet: false });
    const project = () => requiredValue('project', connection.settings);
    const requests = names.map((name) => {
      const target = parseAutomationArgument(name, project);
      return {
        target,
        body: '{}',
        idempotencyKey: idempotencyKeyOf(target),
        ifActive: options.ifActive,
      };
    });
    return options.dryRun
      ? dryRun(requests, connection)
      : triggerAll(requests, options, connection);
  },
});

/** Throws a usage problem for a flag that has no meaning without another flag. */
function checkFlagsThatNeedOthers({ watch, ifActive, interval, onFinal }: TriggerOptions): void {
  if (watch) return;
  if (onFinal !== undefined) throw usageProblem('--on-final needs --watch', 'add `--watch`');
  if (interval !== undefined && ifActive !== 'wait') {
    throw usageProblem('--interval needs --watch or --if-active wait', 'add `--watch`');
  }
}

/** A hint that names the automations triggered here before. */
function recordedNamesHint(context: CommandContext): string | undefined {
  const baseUrl = optionalValue(resolveWithoutApiKey({}, context.env).baseUrl);
  const names = [...automationsIn({ journal: journalOf(context, { quiet: true }), baseUrl })];
  if (names.length === 0) return undefined;
  const shown = names.slice(0, maxNamed).map(shellWord).join(', ');
  return `known on this machine: ${shown}\nsee \`runctl trigger --help\``;
}

/**
 * Shows what would be sent. An idempotency key that wasn't given is only an example, because each
 * command generates a new one.
 */
function dryRun(requests: readonly StartRequest[], { baseUrl }: Connection): CommandResult {
  const unsent = requests.map(({ target, body, idempotencyKey = randomUuid() }) => {
    const url = `${baseUrl}${triggerPath(target)}`;
    return { target, url, body: JSON.parse(body), idempotencyKey };
  });
  const outcomes = unsent.map(({ target, url, body, idempotencyKey }): OutcomeOf<'dry_run'> => {
    const request = { method: 'POST', url, idempotencyKey, body };
    const triggerInfo = { attribution: 'no_run', idempotencyKey, isSafeToRepeat: true } as const;
    return { kind: 'dry_run', target, triggerInfo, fields: { request } };
  });
  const texts = unsent.map(
    ({ url, body, idempotencyKey }) =>
      `POST ${url}\nIdempotency-Key: ${idempotencyKey}\n\n${JSON.stringify(body)}\n`,
  );
  return {
    outcomes,
    forPeople: { text: () => texts.join('\n'), note: 'Dry run: nothing was sent.' },
  };
}

/**
 * The idempotency key of each automation, in which `{automation}` stands for its project and name.
 * Throws a usage problem for one that several would share, or that is too long.
 */
function parseKeyTemplate(
  { idempotencyKey: template }: TriggerOptions,
  automations: number,
): (target: Target) => string | undefined {
  if (template === undefined) return () => undefined;
  if (automations > 1 && !template.includes(automationPlaceholder)) {
    throw usageProblem(
      'several automations need an idempotency key each',
      `put ${automationPlaceholder} into \`--idempotency-key\`: it stands for the project and the name`,
    );
  }
  return (target) => {
    const key = template.replaceAll(automationPlaceholder, encodeURIComponent(fullNameOf(target)));
    if (key.length <= maxIdempotencyKey) return key;
    const message = `the idempotency key for ${quotedName(target)} is longer than ${maxIdempotencyKey} characters`;
    throw usageProblem(message, 'choose a shorter one');
  };
}
