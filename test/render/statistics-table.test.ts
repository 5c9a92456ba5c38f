import { expect, test } from 'vitest';
import { statisticsTable } from '../../src/render/tables.ts';
import { createTheme } from '../../src/render/theme.ts';
import type { Statistics } from '../../src/runs/statistics.ts';
import { target } from '../helpers/scripted-service.ts';

const marked = {
  ...createTheme({ colors: false, unicode: true }),
  ok: (text: string) => `{${text}}`,
  bad: (text: string) => `[${text}]`,
  warn: (text: string) => `(${text})`,
};

const statistics = (statuses: string[]): Statistics => {
  const completed = statuses.filter((status) => status === 'COMPLETED').length;
  return {
    target,
    baseUrl: 'https://service.test',
    finished: statuses.length,
    running: 0,
    unseen: 0,
    statuses: { COMPLETED: completed },
    completedShare: completed / statuses.length,
    medianMs: 60_000,
    p95Ms: 60_000,
    credits: null,
    lastCompletedMs: null,
  };
};

test('what completed and what did not have the same colors as in every table', () => {
  const rows = [statistics(['COMPLETED', 'COMPLETED']), statistics(['COMPLETED', 'FAILED', 'COMPLETED'])];
  const [, all, some] = statisticsTable(rows, marked, { columns: 200 }).split('\n');
  expect(all).toMatch(/\{ *2 \(100%\)\}/);
  expect(some).toMatch(/\( *2 \(67%\)\)/);
});

test('only if every run completed, 100% are said to', () => {
  const statuses = Array.from({ length: 1000 }, (_, index) => (index === 0 ? 'FAILED' : 'COMPLETED'));
  expect(statisticsTable([statistics(statuses)], marked, { columns: 200 })).toContain('999 (99%)');
});

test('credits that nobody knows take no room', () => {
  expect(statisticsTable([statistics(['COMPLETED'])], marked, { columns: 200 })).not.toContain('CREDITS');
});
