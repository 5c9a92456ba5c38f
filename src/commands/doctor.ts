import { defineCommand, flag } from '../cli/define-command.ts';
import { outputOptions, settingOptions } from '../cli/options.ts';
import { type Finding, labelOf } from '../doctor/finding.ts';
import { Problem } from '../problems/problem.ts';
import { documentOf } from '../render/document.ts';
import type { CommandResult } from '../render/output.ts';
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
    // It loads what only few commands need, such as TLS.
    const { diagnose } = await import('../doctor/diagnose.ts');
    const findings = await diagnose(options, context);
    const problem = problemOf(findings);
    const report = { doctor: findings.map(({ exitName: _, advice = null, ...finding }) => ({ ...finding, advice })) };
    return {
      exitNames: [problem?.facts.name ?? 'ok'],
      documents: [documentOf({ problem, report }, context)],
      problems: problem && [{ problem }],
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

const labelColumns = 20;

function lineOf({ name, result, message, advice }: Finding, theme: Theme, { columns }: WrapOptions): string {
  const { ok, warn, bad, dot, arrow } = theme.symbols;
  const marks = { ok: theme.ok(ok), warning: theme.warn(warn), failed: theme.bad(bad), skipped: theme.dim(dot) };
  const lines = { columns, indent: labelColumns + 4 };
  const said = `${marks[result]} ${theme.strong(labelOf(name).padEnd(labelColumns))}  ${renderMarkup(message, theme, lines)}\n`;
  return advice ? `${said}  ${arrow} ${renderMarkup(advice, theme, { columns, indent: 4 })}\n` : said;
}
