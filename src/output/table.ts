import type { RunOrTriggerReport } from '../core/report.ts';
import { formatDuration } from '../text/duration.ts';
import { stateOf } from './state.ts';
import { blanksAfter, cut, type View, widthOf } from './style.ts';

const header = ['AUTOMATION', 'STATUS', 'STARTED', 'TOOK', 'RUN', ''];
const shortIdLength = 8;

/** A table for a terminal. */
export function table(reports: readonly RunOrTriggerReport[], view: View): string {
  const { style, nowMs, columns } = view;
  const { tint, dim, glyphs } = style;
  const rows = [[...header], ...reports.map((report) => cellsOf(report, view))];
  const maxNameWidth = Math.max(12, Math.floor(columns / 3));
  for (const row of rows) row[0] = cut(row[0] ?? '', maxNameWidth, glyphs.ellipsis);
  // Without spreading them, because there may be more rows than a call has arguments.
  const widths = header.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[column] ?? '')), 0),
  );
  const [titles, ...padded] = rows.map((row) =>
    row.map((cell, column) => {
      const blanks = blanksAfter(cell, widths[column] ?? 0);
      return header[column] === 'TOOK' ? blanks + cell : cell + blanks;
    }),
  );
  const lines = padded.map(([name, status = '', started, took, id = '', details], index) => {
    const { tone } = stateOf(reports[index] as RunOrTriggerReport, nowMs);
    const cells = [`${tint(tone, glyphs[tone])} ${name}`, tint(tone, status), started, took];
    return [...cells, dim(id), details].join('  ');
  });
  return [dim(`  ${titles?.join('  ').trimEnd()}`), ...lines]
    .map((line) => `${cut(line.trimEnd(), columns, glyphs.ellipsis)}\n`)
    .join('');
}

/** For a pipe: complete values, with tabs between them. */
export const pipeRows = (reports: readonly RunOrTriggerReport[], view: View): string =>
  reports.map((report) => `${cellsOf(report, view).join('\t')}\n`).join('');

/** Name, status, start, time taken (in a pipe: seconds), id and reason. `-` is nothing. */
function cellsOf(report: RunOrTriggerReport, { style, nowMs, project }: View): string[] {
  const { isTerminal, line, time } = style;
  const { automation, executionId = '-' } = report;
  const { projectId, name } = automation;
  const { word, startedAtMs, tookMs, reason, usual } = stateOf(report, nowMs);
  const tookText = isTerminal ? formatDuration : (ms: number) => `${Math.round(ms / 1000)}`;
  return [
    line(projectId === project ? name : `${projectId}/${name}`),
    line(word),
    startedAtMs === undefined ? '-' : time(startedAtMs, nowMs),
    tookMs === undefined ? '-' : tookText(tookMs),
    isTerminal ? executionId.slice(0, shortIdLength) : executionId,
    isTerminal ? line([reason, usual].filter(Boolean).join(', ')) : line(reason ?? '') || '-',
  ];
}

/** `5 since Fri 02:00: 1 completed, 1 failed, 1 not started, 1 running, 1 unknown` */
export function countLine(reports: readonly RunOrTriggerReport[], { style, nowMs }: View): string {
  const states = reports.map((report) => stateOf(report, nowMs));
  const words = states.map(({ word }) => style.line(word).toLowerCase().replaceAll('_', ' '));
  const counts = [...new Set(words)]
    .sort()
    .map((word) => `${words.filter((each) => each === word).length} ${word}`);
  const starts = states.flatMap(({ startedAtMs }) => startedAtMs ?? []);
  const firstMs = starts.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const since = starts.length > 0 ? ` since ${style.time(firstMs, nowMs)}` : '';
  return `${reports.length}${since}: ${counts.join(', ')}\n`;
}
