import { defineCommand, flag, option } from '../cli/define-command.ts';
import { outputOptions, settingOptions } from '../cli/options.ts';
import { automation } from '../cli/values.ts';
import { type Finding, findingLine, labelOf } from '../doctor/finding.ts';
import { showKeyTrial } from '../doctor/try-key.ts';
import { Problem } from '../problems/problem.ts';
import { count } from '../problems/quote.ts';
import { documentOf } from '../render/document.ts';
import { type CommandResult, wantsData } from '../render/output.ts';

const options = {
  offline: flag('--offline', 'send nothing'),
  tryKey: {
    ...option(
      '--try-key <automation>',
      'find out whether the service honors idempotency keys: starts one or two runs of this automation',
      automation,
    ),
    refuses: ['offline'],
  },
  yes: { ...flag('--yes', 'with --try-key: start the runs without asking'), needs: ['tryKey'] },
  ...outputOptions,
  ...settingOptions,
};

export const doctor = defineCommand({
  name: 'doctor',
  about: 'check settings, network, API key, journal and shell',
  options,
  examples: [
    ['runctl doctor', 'find problems, and what to type next'],
    ['runctl doctor --json', 'the same as JSON, without the API key, for a bug report'],
    ['runctl doctor --try-key nightly', 'whether the service honors idempotency keys; starts one or two runs'],
  ],
  async run(_, options, context): Promise<CommandResult> {
    if (options.tryKey !== undefined) return showKeyTrial(options.tryKey, options, context);
    const { diagnose } = await import('../doctor/diagnose.ts');
    const findings = await diagnose(options, context);
    const problem = problemOfFindings(findings);
    const report = {
      doctor: findings.map(({ exitName: _, advice = null, ...finding }) => ({ ...finding, advice })),
    };
    return {
      exitNames: [problem?.facts.name ?? 'ok'],
      documents: [documentOf({ problem, report }, context)],
      problems: problem && [{ problem: wantsData(options) ? problem : inShort(problem, findings) }],
      text: (theme, lines) =>
        lastTheWorst(findings)
          .filter(({ name, result }) => !options.quiet || (isTrouble(result) && name !== 'cron_path')) // a convenience
          .map((finding) => findingLine(finding, theme, lines))
          .join(''),
      note: problem || options.quiet ? undefined : verdict(findings),
    };
  },
});

const isTrouble = (result: Finding['result']) => result === 'warning' || result === 'failed';

const severity = { ok: 0, skipped: 0, warning: 1, failed: 2 };

/** Problems come last, because that is where users look when the command exits. */
const lastTheWorst = (findings: readonly Finding[]) =>
  [...findings].sort((one, other) => severity[one.result] - severity[other.result]);

function verdict(findings: readonly Finding[]): string {
  const warnings = findings.filter(({ result }) => result === 'warning').length;
  return warnings === 0 ? 'No problems found.' : `No check failed; ${count(warnings, 'warning')}.`;
}

/** The first check that failed: whatever failed after it may follow from it. */
function problemOfFindings(findings: readonly Finding[]): Problem | undefined {
  const first = findings.find(({ result }) => result === 'failed');
  if (!first?.exitName) return undefined;
  return new Problem({ name: first.exitName, message: `${labelOf(first.name)}: ${first.message}`, hint: first.advice });
}

/** The problem without its own advice, which is in the list of checks already. */
function inShort(problem: Problem, findings: readonly Finding[]): Problem {
  const names = findings.filter(({ result }) => result === 'failed').map(({ name }) => labelOf(name));
  const message = `${count(names.length, 'check')} failed: ${names.join(', ')}`;
  return problem.with({ message, hint: '`runctl help troubleshooting`' });
}
