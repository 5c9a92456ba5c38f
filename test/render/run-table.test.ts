import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JournalRun } from '../../src/journal/journal.ts';
import { runTable } from '../../src/render/tables.ts';
import { createTheme } from '../../src/render/theme.ts';
import { widthOf } from '../../src/render/width.ts';
import { executionId, target } from '../helpers/scripted-service.ts';

const plain = createTheme({ colors: false, unicode: true });
const nowMs = Date.UTC(2026, 10, 21, 9);
const ago = (ms: number) => new Date(nowMs - ms).toISOString();
const minute = 60_000;

function entry(fields: Partial<JournalRun> & { name?: string } = {}): JournalRun {
  const { name = 'nightly', ...rest } = fields;
  return {
    baseUrl: 'https://service.test',
    target: { ...target, automationName: name },
    executionId,
    status: 'COMPLETED',
    startedAt: ago(5 * minute),
    completedAt: ago(2 * minute),
    creditsCharged: null,
    idempotencyKey: 'key-1',
    at: ago(5 * minute),
    ...rest,
  };
}

const linesOf = (text: string) => text.split('\n').slice(0, -1);

test('a row shows status, name, age, time taken and id', () => {
  const [, row = ''] = linesOf(runTable([entry()], nowMs, 120, plain));
  expect(row.split(/ {2,}/)).toEqual(['COMPLETED', 'nightly', '5m ago', '3m', executionId]);
});

test('an unfinished run has taken no time, and a trigger in doubt names the way out', () => {
  const open = entry({ executionId: null, status: null, startedAt: null, completedAt: null });
  const [, going = '', doubtful = ''] = linesOf(
    runTable([entry({ status: 'RUNNING', completedAt: null }), open], nowMs, 120, plain),
  );
  expect(going.split(/ {2,}/)).toEqual(['RUNNING', 'nightly', '5m ago', executionId]);
  expect(doubtful).toContain('unknown');
  expect(doubtful).toContain('runctl recover');
});

const names = fc.string({
  unit: fc.constantFrom('a', 'B', '漢', 'é', '/', ' ', '🚀', '\u202E', '\u001B', '\n', '-'),
  minLength: 1,
  maxLength: 50,
  size: 'max',
});
const entries = fc.record({
  name: names,
  status: fc.constantFrom('RUNNING', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', null),
  startedAt: fc.option(fc.integer({ min: 0, max: 90 * 86_400_000 }).map(ago)),
});

test('every line is as wide as the terminal at the most, the id is whole, and the columns stand straight', () => {
  fc.assert(
    fc.property(
      fc.array(entries, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 56, max: 160 }),
      (fields, columns) => {
        const lines = linesOf(runTable(fields.map(entry), nowMs, columns, plain));
        for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
        expect(lines.join('\n')).not.toMatch(/(?!\n)\p{Cc}|\u202E/u);
        expect(lines.filter((line) => line.includes(executionId))).toHaveLength(fields.length);
        const idAt = new Set(
          lines.flatMap((line) =>
            line.includes(executionId) ? widthOf(line.slice(0, line.indexOf(executionId))) : [],
          ),
        );
        expect(idAt.size).toBe(1);
      },
    ),
  );
});
