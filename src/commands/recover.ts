import { defineCommand, flag, type OptionValues, option } from '../cli/define-command.ts';
import { asTyped, giveUpOptions, outputOptions, settingOptions } from '../cli/options.ts';
import { duration } from '../cli/values.ts';
import type { Context } from '../context.ts';
import type { UnresolvedTrigger } from '../journal/journal.ts';
import { exitCodeOf } from '../problems/exit-codes.ts';
import type { Problem } from '../problems/problem.ts';
import { triggerProblem } from '../problems/trigger-problems.ts';
import { identityOf } from '../render/document.ts';
import { printDocuments, printNextStep, printSentence, wantsData } from '../render/output.ts';
import { defaults } from '../runs/defaults.ts';
import { formatDuration } from '../runs/duration.ts';
import { nameOf } from '../runs/run.ts';
import { connect } from '../session/connect.ts';
import { sendTrigger } from '../session/send-trigger.ts';
import type { Session } from '../session/session.ts';

const options = {
  dryRun: flag('--dry-run', 'only list them'),
  maxAgeMs: option(
    '--max-age <duration>',
    `older ones are not asked for again (default: ${asTyped(defaults.keyRetentionMs)})`,
    duration,
  ),
  forget: flag('--forget', 'close those that are too old'),
  ...giveUpOptions,
  ...outputOptions,
  ...settingOptions,
};

type RecoverOptions = OptionValues<typeof options>;

export const recover = defineCommand({
  name: 'recover',
  about: 'settle triggers whose outcome is unknown, without starting a second run',
  options,
  examples: [
    ['runctl recover --dry-run', 'what is open'],
    ['runctl recover', 'settles it'],
  ],
  run: (_, options, context) => recoverAll(options, context),
});

/** What became of one open intent. */
interface Recovery {
  intent: UnresolvedTrigger;
  outcome: 'settled' | 'open' | 'too_old' | 'forgotten' | 'other_key';
  executionId?: string;
  problem?: Problem;
  words: string;
}

/** Settles triggers whose outcome is unknown, by asking again with the key of each. */
async function recoverAll(options: RecoverOptions, context: Context): Promise<number> {
  const session = await connect(options, context, { needed: true });
  const { journal, baseUrl } = session;
  const intents = journal.unresolvedTriggers({ baseUrl });
  const recoveries: Recovery[] = [];
  // One after the other, the oldest first: each may wait for the same automation.
  for (const intent of intents.reverse()) {
    const recovery = await settle(intent, options, session);
    recoveries.push(recovery);
    if (!wantsData(options)) tell(recovery, options, context);
  }
  if (wantsData(options)) {
    printDocuments(recoveries.map(documentOfRecovery), { ...options, plural: true }, context);
  } else if (intents.length === 0 && !options.quiet) {
    printSentence('nothing to recover: the outcome of every trigger is known', context);
  }
  const open = recoveries.find(({ outcome }) => outcome === 'open');
  if (open?.problem) return open.problem.exitCode;
  const leftOpen =
    !options.dryRun && recoveries.some(({ outcome }) => outcome === 'too_old' || outcome === 'other_key');
  return exitCodeOf(leftOpen ? 'outcome_unknown' : 'ok');
}

async function settle(intent: UnresolvedTrigger, options: RecoverOptions, session: Session): Promise<Recovery> {
  const { journal, baseUrl, context } = session;
  const { signal } = context;
  const { target, idempotencyKey, account, body, ageMs } = intent;
  const about = `the trigger of ${nameOf(target)} at ${intent.at}`;
  if (ageMs > (options.maxAgeMs ?? defaults.keyRetentionMs)) {
    if (options.forget && !options.dryRun) {
      journal.append({ type: 'forgotten', baseUrl, target, idempotencyKey });
      return {
        intent,
        outcome: 'forgotten',
        words: `${about} is forgotten: nobody will know whether it started a run`,
      };
    }
    const age = Number.isFinite(ageMs) ? `is ${formatDuration(ageMs)} old` : 'lies in the future of this clock';
    const words = `${about} ${age}, and is not asked again: the service may have forgotten its key, and would start a second run`;
    return { intent, outcome: 'too_old', words };
  }
  if (account !== session.account) {
    const words = `${about} was sent with another API key: asking with this one would start a second run`;
    return { intent, outcome: 'other_key', words };
  }
  if (options.dryRun) {
    const why = intent.reason ? ` (${intent.reason})` : '';
    return { intent, outcome: 'open', words: `${about} has no known outcome${why}` };
  }
  const stillOpen = (problem: Problem): Recovery => ({
    intent,
    outcome: 'open',
    problem,
    words: `${about} is still open: ${problem.message}`,
  });
  const identity = { baseUrl, account, target, idempotencyKey, userProvided: intent.userProvided };
  const { giveUpAfterMs, maxAgeMs } = options;
  const result = signal.aborted
    ? ({ kind: 'interrupted', mayHaveStarted: true } as const)
    : await sendTrigger(identity, body, { giveUpAfterMs, ageMs, maxAgeMs, isLeftBehind: true }, session);
  if (result.kind === 'started') {
    const { executionId } = result.execution;
    return { intent, outcome: 'settled', executionId, words: `${about} started run ${executionId}` };
  }
  if (result.kind === 'refused') {
    return { intent, outcome: 'settled', words: `${about} started no run: ${result.fault.message}` };
  }
  return stillOpen(triggerProblem(result, identity, signal));
}

function tell(
  { intent, outcome, executionId, problem, words }: Recovery,
  options: RecoverOptions,
  context: Context,
): void {
  if (executionId !== undefined) context.stdout.write(`${executionId}\n`);
  if (!options.quiet || outcome !== 'settled') printSentence(words, context);
  if (outcome === 'too_old') {
    const orRaise = Number.isFinite(intent.ageMs) ? ', or raise `--max-age`' : '';
    printNextStep(`close it with \`runctl recover --forget\`${orRaise}`, context);
  }
  if (problem?.facts.hint) printNextStep(problem.facts.hint, context);
}

function documentOfRecovery({ intent, outcome, executionId, problem }: Recovery) {
  return {
    executionId: executionId ?? null,
    ...identityOf(intent.target),
    idempotencyKey: intent.idempotencyKey,
    at: intent.at,
    outcome,
    reason: intent.reason ?? null,
    ...(problem && { problem: problem.toJSON() }),
  };
}
