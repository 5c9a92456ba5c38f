import { expect, test } from 'vitest';
import { historyTable } from '../../src/render/history-table.ts';
import { createTheme } from '../../src/render/theme.ts';
import { widthOf } from '../../src/render/width.ts';
import type { HistoryEvent } from '../../src/runs/history-event.ts';
import { projectId } from '../helpers/scripted-service.ts';

const theme = createTheme({ colors: false, unicode: true });
const about = (automationName: string) => ({
  at: '2026-11-22T03:00:00.000Z',
  baseUrl: 'https://api.example.com',
  by: 'trigger',
  process: 'host 4194304 1',
  target: { family: 'automation', projectId, automationName } as const,
  executionId: '11111111-2222-4333-8444-555555555555',
  idempotencyKey: 'nightly-2026-11-22',
});
const reason = 'api.platform.example.com reset the connection before it responded';
const events: HistoryEvent[] = [
  { ...about('nightly'), what: 'sent' },
  { ...about('invoices-to-the-ledger'), what: 'response_lost', reason },
  { ...about('nightly'), what: 'refused', refusal: 'already_active', reason: 'it is already running' },
  { ...about('nightly'), what: 'hook_ended', hook: '--on-exit', failure: 'took longer than 30s and was stopped' },
];

test.each([44, 60, 80, 120])('in %d columns no word of what happened is lost', (columns) => {
  const lines = historyTable(events, theme, { columns, hasHeading: true }).trimEnd().split('\n');
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  const words = lines.join(' ').split(/\s+/);
  const said = `sent by trigger outcome unknown: ${reason} refused (5): --on-exit hook took longer than 30s`;
  for (const word of said.split(' ')) expect(words).toContain(word);
  // Each event begins a line with its time, and only the sentence goes on in the next.
  const time = columns < 60 ? /^\d\d:\d\d:\d\d / : /^2026-11-2/;
  expect(lines.filter((line) => time.test(line))).toHaveLength(events.length);
  if (columns >= 80) expect(lines.filter((line) => line.includes('11111111'))).toHaveLength(events.length);
  else expect(lines.filter((line) => line.includes('nightly'))).toHaveLength(events.length - 1);
});

test('keys that differ at their ends alone are told apart', () => {
  const sent = ['nightly-2026-11-21', 'nightly-2026-11-22', 'aaaaaaaa-2222-4333-8444-555555555555'].map(
    (idempotencyKey): HistoryEvent => ({ ...about('nightly'), executionId: undefined, idempotencyKey, what: 'sent' }),
  );
  const [, ...lines] = historyTable(sent, theme, { columns: 80, hasHeading: true }).trimEnd().split('\n');
  expect(new Set(lines.map((line) => line.split(/ {2,}/).at(-1))).size).toBe(3);
  expect(lines[2]).toMatch(/ aaaaaaaa$/);
});
