import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { documentSchema } from '../../src/output/schemas.ts';
import { checkBySchema } from '../helpers/check-documents.ts';

const ok = { schema: 1, command: 'status', exitCode: 0, outcome: 'ok', next: null, warnings: [] };
const problem = { name: 'usage', message: 'it is wrong' };
const named = { executionId: null, projectId: 'p', automationName: 'nightly' };

const file = join(import.meta.dirname, '../../docs/document.schema.json');

test('docs/document.schema.json is the schema', () => {
  if (process.env.UPDATE_SCHEMA) writeFileSync(file, `${JSON.stringify(documentSchema, null, 2)}\n`);
  const written = JSON.parse(readFileSync(file, 'utf8'));
  expect(written, 'UPDATE_SCHEMA=1 npx vitest run test/output/schemas.test.ts').toEqual(documentSchema);
});

test('the schema is one of the 2020-12 dialect, in strict mode', () => {
  const lenient = { strictTypes: false, strictRequired: false, validateSchema: false };
  const ajv = new Ajv2020({ strict: true, ...lenient, code: { optimize: false } });
  addFormats.default(ajv);
  expect(ajv.validateSchema(documentSchema)).toBe(true);
  expect(() => ajv.compile(documentSchema)).not.toThrow();
});

test.each<[string, object]>([
  ['of a run, with fields of the service that nobody knows', { ...named, status: 'RUNNING', region: 'eu', runctl: ok }],
  ['of a usage error, alone', { runctl: { ...ok, exitCode: 2, outcome: 'usage', problem } }],
])('a document %s is valid', (_, document) => {
  expect(() => checkBySchema(document)).not.toThrow();
});

test.each<[string, object]>([
  ['without what is ours', named],
  ['with a field of the service that has another type', { ...named, creditsCharged: 'none', runctl: ok }],
  ['without the automation of its run', { executionId: 'e', runctl: ok }],
  ['that failed without a problem', { ...named, runctl: { ...ok, outcome: 'usage' } }],
  ['with a problem though all is well', { ...named, runctl: { ...ok, problem } }],
  ['with an outcome that is in no table', { ...named, runctl: { ...ok, outcome: 'odd' } }],
  ['with a field of ours that is in no schema', { ...named, runctl: { ...ok, odd: 1 } }],
])('a document %s is not', (_, document) => {
  expect(() => checkBySchema(document)).toThrow(/document: /);
});
