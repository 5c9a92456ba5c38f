import { Command, Option } from 'commander';
import { define } from '../cli/command.ts';
import { automation } from '../cli/values.ts';
import type { CommandContext } from '../context.ts';
import { type CommandResult, type OutputOptions, wantsData } from '../output/command-result.ts';
import { silentReporter } from '../run/events.ts';
import { isSignalExitName } from '../run/exit-codes.ts';
import type { Outcome } from '../run/outcome.ts';
import { Problem, usageProblem } from '../run/problem.ts';
import { pluralize } from '../run/quote.ts';
import { resolveSettings, type SettingFlags } from '../settings/resolve.ts';
import { type Check, type CheckContext, checks, sendProbe } from './doctor-checks.ts';
import {
  type CheckResult,
  type Finding,
  failed,
  labelOf,
  renderFindings,
  reportOf,
  skipped,
} from './doctor-finding.ts';
import { runKeyTrial } from './doctor-try-key.ts';

const command = new Command('doctor')
  .description('check settings, service, API key, clock and journal')
  .option('--offline', 'send nothing')
  .addOption(
    new Option(
      '--try-key <automation>',
      'find out whether the service honors idempotency keys: starts one or two runs of this automation',
    )
      .argParser(automation)
      .conflicts('offline'),
  )
  .option('--yes', 'with --try-key: start the runs without asking');

export const doctor = define(command, {
  ignoresUnknownVariables: true,
  examples: [
    ['runctl doctor', 'find problems, and what to type next'],
    ['runctl doctor --json', 'print it as JSON for a bug report (without the API key)'],
    ['runctl doctor --try-key nightly', 'find out whether the service honors idempotency keys'],
  ],
  async run(_, options, context): Promise<CommandResult> {
    if (options.tryKey !== undefined) return runKeyTrial(options.tryKey, options, context);
    if (options.yes) throw usageProblem('--yes needs --try-key', 'add `--try-key`');
    const findings = await diagnose(options, context);
    const problem = problemOfChecks(findings, options);
    const printed = findings.filter(({ result }) => !options.quiet || severity[result] > 0);
    // Problems come last, because that is where users look when the command exits.
    printed.sort((one, other) => severity[one.result] - severity[other.result]);
    const fields = { doctor: reportOf(findings) };
    const outcome: Outcome = problem
      ? { kind: 'problem', problem, fields }
      : { kind: 'info', fields };
    return {
      outcomes: [outcome],
      forPeople: {
        text: (theme, lines) => renderFindings(printed, theme, lines),
        note: problem || options.quiet ? undefined : successNote(findings),
      },
    };
  },
});

/** Runs the checks. Throws only the interrupted problem. */
async function diagnose(
  flags: SettingFlags & { offline?: boolean },
  outer: CommandContext,
): Promise<Finding[]> {
  const context = { ...outer, reporter: silentReporter };
  const settings = once(() => resolveSettings(flags, context));
  const probe = once(async () => sendProbe(await settings(), flags, context));
  const findings: Finding[] = [];
  const hasPassed = (name: string) =>
    findings.some((finding) => finding.name === name && isPassed(finding));
  const checkContext: CheckContext = { context, flags, settings, probe, hasPassed };
  for (const [name, { needs = [], run }] of Object.entries<Check>(checks)) {
    const missing = needs.find((need) => !hasPassed(need));
    const result = missing
      ? skipped(`skipped until the ${labelOf(missing)} check passes`)
      : await resultOf(() => run(checkContext));
    findings.push({ name, ...result });
  }
  return findings.map((finding) => withoutSecrets(finding, outer));
}

function withoutSecrets(finding: Finding, { secrets }: CommandContext): Finding {
  const { message, advice } = finding;
  return { ...finding, message: secrets.scrub(message), advice: advice && secrets.scrub(advice) };
}

/** Calls `make` at the first call only, and returns its promise at every call. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const isPassed = ({ result }: Finding) => result === 'ok' || result === 'warning';

/** The result of a check, also if it throws a problem. Throws the interrupted problem. */
async function resultOf(run: () => CheckResult | Promise<CheckResult>): Promise<CheckResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Problem) || isSignalExitName(error.facts.name)) throw error;
    return failed(error);
  }
}

const severity = { ok: 0, skipped: 0, warning: 1, failed: 2 };

/** The first check that failed decides, because what failed after it may follow from it. */
function problemOfChecks(
  findings: readonly Finding[],
  options: OutputOptions,
): Problem | undefined {
  const failedChecks = findings.filter(({ result }) => result === 'failed');
  const [first] = failedChecks;
  if (!first?.exitName) return undefined;
  const { exitName: name, message, advice: hint } = first;
  if (wantsData(options)) {
    return new Problem({ name, message: `${labelOf(first.name)}: ${message}`, hint });
  }
  // Without `--json`, the list of checks has the messages and what to do.
  const labels = failedChecks.map((each) => labelOf(each.name)).join(', ');
  return new Problem({
    name,
    message: `${pluralize(failedChecks.length, 'check')} failed: ${labels}`,
    hint: '`runctl help troubleshooting`',
  });
}

function successNote(findings: readonly Finding[]): string {
  const warnings = findings.filter(({ result }) => result === 'warning').length;
  // The checks can't find what only a trigger meets, such as the size limit of a gateway.
  const withWarnings = warnings === 0 ? '' : `, with ${pluralize(warnings, 'warning')}`;
  return `No check failed${withWarnings}. No trigger was sent.`;
}
