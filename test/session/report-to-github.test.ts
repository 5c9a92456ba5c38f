import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ArgumentResult } from '../../src/session/argument-result.ts';
import { reportToGithub } from '../../src/session/report-to-github.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { run } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

function ended(status: string, message?: string): ArgumentResult {
  const execution = { executionId: run.executionId, status, document: {} };
  const error = message === undefined ? undefined : { type: 'step_failed', message };
  return { kind: 'followed', watched: { kind: 'finished', run, execution, result: { status, error, document: {} } } };
}

async function reported(results: ArgumentResult[], file = join(temporaryFolder(), 'summary.md')) {
  const context = createMemory({ GITHUB_STEP_SUMMARY: file });
  context.secrets.protect('key-0123456789');
  await reportToGithub(results, context);
  return { err: context.err(), summary: () => readFileSync(file, 'utf8') };
}

test('a run that failed is an annotation with its error and a part of the summary, without secrets', async () => {
  const { err, summary } = await reported([ended('FAILED', 'refused key-0123456789')]);
  expect(err).toMatch(/^::error title=nightly FAILED::step_failed: refused .*\n$/);
  expect(summary()).toMatch(/^### .*FAILED nightly/);
  expect(summary()).not.toContain('key-0123456789');
});

test('a run that failed without a reason is annotated with its state', async () => {
  expect((await reported([ended('CANCELLED')])).err).toBe('::error title=nightly CANCELLED::the run ended CANCELLED\n');
});

test('a run that completed is in the summary and no annotation', async () => {
  const { err, summary } = await reported([ended('COMPLETED')]);
  expect(err).toBe('');
  expect(summary()).toContain('COMPLETED nightly');
});

test('where there is no file for the summary, none is written', async () => {
  expect((await reported([ended('COMPLETED')], '')).err).toBe('');
});

test('a summary that cannot be written is said, and is no failure', async () => {
  const { err } = await reported([ended('COMPLETED')], '/nowhere/at/all');
  expect(err).toMatch(/^runctl: the job summary could not be written: ENOENT/);
});
