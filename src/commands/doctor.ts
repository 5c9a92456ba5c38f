import { Command, Option } from 'commander';
import { define } from '../cli/command.ts';
import { automation } from '../cli/values.ts';
import type { Invocation } from '../context.ts';
import { type OutputOptions, type Result, wantsData } from '../output/result.ts';
import { silentReporter } from '../run/events.ts';
import { isSignalExitName } from '../run/exit-codes.ts';
import type { Outcome } from '../run/outcome.ts';
import { Problem, usageProblem } from '../run/problem.ts';
import { count } from '../run/quote.ts';
import { resolveSettings, type SettingFlags } from '../settings/resolve.ts';
import { ask, type Check, checks, type Machine } from './doctor-checks.ts';
import {
  type Finding,
  type Found,
  failed,
  findingLines,
  labelOf,
  reportOf,
  skipped,
} from './finding.ts';
import { showKeyTrial } from './try-key.ts';

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
  examples: [
    ['runctl doctor', 'find problems, and what to type next'],
    ['runctl doctor --json', 'print it as JSON for a bug report (without the API key)'],
    ['runctl doctor --try-key nightly', 'find out whether the service honors idempotency keys'],
  ],
  async run(_, options, context): Promise<Result> {
    if (options.tryKey !== undefined) return showKeyTrial(options.tryKey, options, context);
    if (options.yes) throw usageProblem('--yes needs --try-key', 'add `--try-key`');
    const findings = await diagnose(options, context);
    const problem = problemOf(findings, options);
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
        text: (theme, lines) => findingLines(printed, theme, lines),
        note: problem || options.quiet ? undefined : verdict(findings),
      },
    };
  },
});

/** Runs the checks. Throws only the interrupted problem. */
async function diagnose(
  flags: SettingFlags & { offline?: boolean },
  outer: Invocation,
): Promise<Finding[]> {
  const context = { ...outer, reporter: silentReporter };
  const settings = once(() => resolveSettings(flags, context));
  const answer = once(async () => ask(await settings(), flags, context));
  const findings: Finding[] = [];
  const passed = (name: string) =>
    findings.some((finding) => finding.name === name && isPassed(finding));
  const machine: Machine = { context, flags, settings, answer, passed };
  for (const [name, { needs = [], find }] of Object.entries<Check>(checks)) {
    const obstacle = findings.find((each) => needs.includes(each.name) && !isPassed(each));
    const found = obstacle
      ? skipped(`skipped until the ${labelOf(obstacle.name)} check passes`)
      : await orFailed(() => find(machine));
    findings.push({ name, ...found });
  }
  const { scrub } = outer.secrets;
  return findings.map((each) => ({
    ...each,
    message: scrub(each.message),
    advice: each.advice && scrub(each.advice),
  }));
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const isPassed = ({ result }: Finding) => result === 'ok' || result === 'warning';

async function orFailed(find: () => Found | Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof Problem) || isSignalExitName(error.facts.name)) throw error;
    return failed(error);
  }
}

const severity = { ok: 0, skipped: 0, warning: 1, failed: 2 };

/** The first check that failed decides, because what failed after it may follow from it. */
function problemOf(findings: readonly Finding[], options: OutputOptions): Problem | undefined {
  const all = findings.filter(({ result }) => result === 'failed');
  const [first] = all;
  if (!first?.exitName) return undefined;
  const { exitName: name, advice: hint } = first;
  if (wantsData(options))
    return new Problem({ name, message: `${labelOf(first.name)}: ${first.message}`, hint });
  // Without `--json`, the list of checks has the messages and what to do.
  const message = `${count(all.length, 'check')} failed: ${all.map((each) => labelOf(each.name)).join(', ')}`;
  return new Problem({ name, message, hint: '`runctl help troubleshooting`' });
}

function verdict(findings: readonly Finding[]): string {
  const warnings = findings.filter(({ result }) => result === 'warning').length;
  // The checks can't find what only a trigger meets, such as the size limit of a gateway.
  const failed =
    warnings === 0 ? 'No check failed.' : `No check failed, with ${count(warnings, 'warning')}.`;
  return `${failed} No trigger was sent.`;
}
