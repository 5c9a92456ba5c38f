import type { RunOrTriggerReport } from '../run/report.ts';
import { formatDuration } from '../text/duration.ts';
import { stateOf } from './state.ts';
import type { Style } from './style.ts';
import { dayName, logTime, shortTime } from './time.ts';
import { cut, padEnd, padStart, widthOf } from './width.ts';

export interface TableOptions {
  style: Style;
  nowMs: number;
  /** The project in force. Automations of others are named by their full path. */
  project?: string;
}

const header = ['AUTOMATION', 'STATUS', 'STARTED', 'TOOK', 'RUN', ''];
const shortIdLength = 8;

/** A table for a terminal of this many columns (0: it doesn't say). */
export function table(
  reports: readonly RunOrTriggerReport[],
  columns: number,
  options: TableOptions,
): string {
  const { style, nowMs } = options;
  const { ellipsis } = style.glyphs;
  const states = [undefined, ...reports.map((report) => stateOf(report, nowMs))];
  const rows = [header, ...reports.map((report) => cellsOf(report, options))];
  const maxNameWidth = Math.max(12, Math.floor((columns || 80) / 3));
  for (const row of rows) row[0] = cut(row[0] ?? '', maxNameWidth, ellipsis);
  const widths = header.map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  const lines = rows.map((row, index) => {
    const state = states[index];
    const [name, status, started, took, id, details] = row.map((cell, column) =>
      (header[column] === 'TOOK' ? padStart : padEnd)(cell, widths[column] ?? 0),
    );
    if (!state) return style.dim(`  ${[name, status, started, took, id].join('  ')}`.trimEnd());
    const glyph = style.tint(state.tone, style.glyphs[state.tone]);
    const word = style.tint(state.tone, status ?? '');
    return [`${glyph} ${name}`, word, started, took, style.dim(id ?? ''), details].join('  ');
  });
  return lines.map((line) => `${cut(line.trimEnd(), columns || 80, ellipsis)}\n`).join('');
}

function cellsOf(report: RunOrTriggerReport, options: TableOptions): string[] {
  const { style, nowMs } = options;
  const { word, startedAtMs, tookMs, reason, usual } = stateOf(report, nowMs);
  return [
    nameOf(report, options),
    style.line(word),
    startedAtMs === undefined ? '-' : shortTime(startedAtMs, nowMs),
    tookMs === undefined ? '-' : formatDuration(tookMs),
    report.executionId?.slice(0, shortIdLength) ?? '-',
    style.line([reason, usual].filter(Boolean).join(', ')),
  ];
}

const nameOf = ({ automation }: RunOrTriggerReport, { style, project }: TableOptions): string =>
  style.line(
    project === undefined || automation.projectId === project
      ? automation.name
      : `${automation.projectId}/${automation.name}`,
  );

/** For a pipe: name, status, start, seconds, id and reason, with tabs between them. */
export function pipeRows(reports: readonly RunOrTriggerReport[], options: TableOptions): string {
  const { style, nowMs } = options;
  const rows = reports.map((report) => {
    const { word, startedAtMs, tookMs, reason } = stateOf(report, nowMs);
    return [
      nameOf(report, options),
      style.line(word),
      startedAtMs === undefined ? '-' : logTime(startedAtMs),
      tookMs === undefined ? '-' : Math.round(tookMs / 1000),
      report.executionId ?? '-',
      style.line(reason ?? '') || '-',
    ];
  });
  return rows.map((cells) => `${cells.join('\t')}\n`).join('');
}

/** `5 since yesterday: 1 completed, 1 failed, 1 not started, 1 running, 1 unknown` */
export function countLine(
  reports: readonly RunOrTriggerReport[],
  { style, nowMs }: TableOptions,
): string {
  const states = reports.map((report) => stateOf(report, nowMs));
  const words = states.map(({ word }) => style.line(word).toLowerCase().replaceAll('_', ' '));
  const counts = [...new Set(words)]
    .sort()
    .map((word) => `${words.filter((each) => each === word).length} ${word}`);
  const starts = states.flatMap(({ startedAtMs }) => startedAtMs ?? []);
  const since = starts.length > 0 ? ` since ${dayName(Math.min(...starts), nowMs)}` : '';
  return `${reports.length}${since.replace('since today', 'today')}: ${counts.join(', ')}\n`;
}
