import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { asTyped, giveUpAfter, selectionHelp } from '../cli/options.ts';
import { flawOfAutomation, parseAutomationNames } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { automationsIn } from '../connection/known-automations.ts';
import { isJournalIncomplete, journalPlace } from '../connection/open-journal.ts';
import { isAmong, type NamedAutomation } from '../journal/entry-filter.ts';
import { diagnosticOf } from '../messages/outcome-diagnostics.ts';
import { reportOfRecovery, sentenceOfRecovery } from '../messages/recovery-sentences.ts';
import { wantsData } from '../output/command-result.ts';
import { printDiagnostic, printSentence } from '../output/print-message.ts';
import { exitNameOfOutcome } from '../run/exit-of.ts';
import { defaults } from '../run/limits.ts';
import { didYouMean } from '../run/near-words.ts';
import { type OutcomeOf, type Recovery, type TriggerOutcome, targetOf } from '../run/outcome.ts';
import { Problem } from '../run/problem.ts';
import { quotedName, quotedNames } from '../run/quote.ts';
import type { Target } from '../run/run.ts';
import { optionalValue } from '../settings/table.ts';
import { recoverAll } from '../start/recover.ts';

const command = new Command('recover')
  .description(
    'resolve triggers whose response was lost: find the run, or start it if the request never arrived',
  )
  .argument('[automation...]', selectionHelp)
  .option('--dry-run', 'list unresolved triggers without sending anything')
  .option(
    '--resend',
    `resend triggers even if that could start a second run, or if they are older than ${asTyped(defaults.recoverMaxAgeMs)}`,
  )
  .addOption(giveUpAfter);

type RecoverOptions = OptionsOf<typeof command>;

export const recover = define(command, {
  triggersRuns: true,
  flawOf: flawOfAutomation,
  examples: [
    ['runctl recover --dry-run', 'list unresolved triggers and which of them would be sent'],
    ['runctl recover', 'resolve them'],
    ['runctl recover nightly', 'resolve the triggers of one automation'],
  ],
  /** Exits with 0 if nothing is left unresolved. */
  async run([automations], options, context) {
    const connection = await connect(options, context, { needed: true });
    const named = parseAutomationNames(automations, optionalValue(connection.settings.project));
    const unknown = unknownAutomation(named, connection);
    if (unknown) return { outcomes: [unknown] };
    const isSelected = (target: Target) => isAmong(named, target);
    const outcomes: TriggerOutcome[] = [];
    for (const recovery of await recoverAll(options, connection, isSelected)) {
      reportRecovery(recovery, options, connection);
      const recover = reportOfRecovery(recovery, options);
      outcomes.push({ ...recovery.outcome, fields: { recover } });
    }
    const isIncomplete = isJournalIncomplete(context);
    const hasNothing = outcomes.length === 0 && !options.quiet && !isIncomplete;
    return {
      outcomes,
      hintContext: connection.hintContext,
      isSafeToRepeat: !options.resend,
      unreported: [],
      notices: hasNothing ? [nothingToRecover(automations, connection)] : [],
      // Triggers whose records are missing in the journal can't be recovered, so the command must
      // not succeed.
      exit: isIncomplete ? 'output_error' : 'ok',
    };
  },
});

/**
 * The problem of the first named automation that the journal doesn't have, if that is likely a
 * mistake: the journal has a similar name, or something to recover. Otherwise it is no problem,
 * because on a new machine a script may run `recover` before its first trigger.
 */
function unknownAutomation(
  named: readonly NamedAutomation[],
  { journal, baseUrl }: Connection,
): OutcomeOf<'problem'> | undefined {
  const automation = named.find((each) => !journal.hasRecord({ baseUrl, automations: [each] }));
  if (!automation) return undefined;
  const { projectId, automationName } = automation;
  const open = journal.unresolved({ baseUrl }).map(({ target }) => target.automationName);
  const near = didYouMean(automationName, [...automationsIn({ journal, baseUrl }), ...open]);
  if (near === undefined && open.length === 0) return undefined;
  const message = `this machine has no record of ${quotedName({ automationName })}`;
  const hint = near ?? 'list the unresolved triggers: `runctl recover --dry-run`';
  return {
    kind: 'problem',
    target: projectId === undefined ? undefined : { projectId, automationName },
    triggerInfo: { attribution: 'no_run', idempotencyKey: null, isSafeToRepeat: true },
    problem: new Problem({ name: 'not_found', message, hint }),
  };
}

function nothingToRecover(names: readonly string[], { baseUrl, context }: Connection): string {
  const whose = names.length > 0 ? ` of ${quotedNames(names)}` : '';
  return `Nothing to recover: no unresolved triggers${whose} from the last 24h ${journalPlace(baseUrl, context)}.`;
}

/** Prints how a trigger was resolved. With `-q`, prints it only if a person must act. */
function reportRecovery(recovery: Recovery, options: RecoverOptions, connection: Connection): void {
  const { hintContext, context, emit } = connection;
  const { outcome } = recovery;
  const { run } = outcome;
  const message = sentenceOfRecovery(recovery, options, hintContext);
  if (run && !options.quiet && !wantsData(options)) context.stdout.write(`${run.executionId}\n`);
  switch (reportKindOf(recovery, options)) {
    case 'warning':
      emit({ event: 'warning', name: 'superseded_trigger', message, target: targetOf(outcome) });
      break;
    case 'problem':
      printDiagnostic({ ...diagnosticOf(outcome, hintContext), message }, context);
      break;
    case 'failed_run': {
      const hint = run && `\`runctl result ${hintContext.argumentOf(run)}\``;
      printDiagnostic({ message, hint }, context);
      break;
    }
    case 'sentence':
      if (isSentenceShown(options)) printSentence(message, context);
      break;
  }
}

/** How a recovery is reported. Undefined if it isn't. */
function reportKindOf(
  recovery: Recovery,
  { dryRun, quiet }: RecoverOptions,
): 'warning' | 'problem' | 'failed_run' | 'sentence' | undefined {
  const { outcome } = recovery;
  if (quiet && isStillBeingSent(recovery)) return undefined;
  // That a later trigger has a run is reported only once, and somebody has to look for the run of
  // this one.
  if (inDoubtKindOf(outcome) === 'superseded') return dryRun ? 'sentence' : 'warning';
  if (outcome.kind === 'in_doubt' || outcome.kind === 'problem') return 'problem';
  // Nobody else may be watching a run that failed.
  if (outcome.run && exitNameOfOutcome(outcome) !== 'ok') return 'failed_run';
  return 'sentence';
}

const isSentenceShown = ({ dryRun, quiet, ...output }: RecoverOptions) =>
  !wantsData(output) && (dryRun || !quiet);

const inDoubtKindOf = (outcome: TriggerOutcome) =>
  outcome.kind === 'in_doubt' ? outcome.inDoubt.reason.kind : undefined;

/** Another process is still sending it, and hasn't been for so long that a person should look. */
const isStillBeingSent = ({ outcome, ageMs }: Recovery) =>
  inDoubtKindOf(outcome) === 'sending' && ageMs <= defaults.recoverMaxAgeMs;
