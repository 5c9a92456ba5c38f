import { defineCommand, flag } from '../cli/define-command.ts';
import { outputOptions, settingOptions } from '../cli/options.ts';
import { type Finding, labelOf } from '../doctor/finding.ts';
import { Problem } from '../problems/problem.ts';
import { documentOf } from '../render/document.ts';
import { type CommandResult, wantsData } from '../render/output.ts';
import { renderMarkup, type Theme } from '../render/theme.ts';
import type { WrapOptions } from '../render/wrap.ts';

export const doctor = defineCommand({
  name: 'doctor',
  about: 'check settings, network, API key, clock, journal and shell; changes nothing',
  options: { offline: flag('--offline', 'send nothing'), ...outputOptions, ...settingOptions },
  examples: [
    ['runctl doctor', 'what is wrong here, and what to type next'],
    ['runctl doctor --json', 'the same for a report: no API key is in it'],
  ],
  async run(_, options, context): Promise<CommandResult> {
    // Loaded here, since it needs modules that few commands need, such as TLS.
    const { diagnose } = await import('../doctor/diagnose.ts');
    const findings = await diagnose(options, context);
    const problem = problemOf(findings);
    const report = {
      doctor: findings.map(({ exitName: _, isObstacle: __, advice = null, ...finding }) => ({ ...finding, advice })),
    };
    return {
      exitNames: [problem?.facts.name ?? 'ok'],
      documents: [documentOf({ problem, report }, context)],
      problems: problem && [{ problem: wantsData(options) ? problem : inShort(problem, findings) }],
      text: (theme, lines) =>
        findings
          .filter(({ result }) => !options.quiet || result === 'warning' || result === 'failed')
          .map((finding) => lineOf(finding, theme, lines))
          .join(''),
    };
  },
});

/** The first check that failed: whatever failed after it may follow from it. */
function problemOf(findings: readonly Finding[]): Problem | undefined {
  const first = findings.find(({ result }) => result === 'failed');
  if (!first?.exitName) return undefined;
  return new Problem({ name: first.exitName, message: `${labelOf(first.name)}: ${first.message}`, hint: first.advice });
}

/** The problem without advice, which is in the list of checks already. */
function inShort(problem: Problem, findings: readonly Finding[]): Problem {
  const names = findings.filter(({ result }) => result === 'failed').map(({ name }) => labelOf(name));
  return problem.with({ message: `fix what failed: ${names.join(', ')}`, hint: undefined });
}

const labelColumns = 20;
/** On a narrower terminal, a message is printed below its label. */
const leastColumns = 60;

function lineOf({ name, result, message, advice }: Finding, theme: Theme, { columns }: WrapOptions): string {
  const { ok, warn, bad, dot, arrow } = theme.symbols;
  const marks = { ok: theme.ok(ok), warning: theme.warn(warn), failed: theme.bad(bad), skipped: theme.dim(dot) };
  const isNarrow = columns !== undefined && columns < leastColumns;
  const indent = isNarrow ? 4 : labelColumns + 4;
  const label = theme.strong(labelOf(name).padEnd(isNarrow ? 0 : labelColumns));
  const text = renderMarkup(message, theme, { columns, indent });
  const said = `${marks[result]} ${label}${isNarrow ? '\n    ' : '  '}${text}\n`;
  return advice ? `${said}  ${arrow} ${renderMarkup(advice, theme, { columns, indent: 4 })}\n` : said;
}
