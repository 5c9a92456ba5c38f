import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { schemas } from '../../src/render/schemas.ts';
import { checkBySchema } from '../helpers/check-documents.ts';

const ok = { schema: 1, command: 'status', exitCode: 0, outcome: 'ok', next: null, warnings: [] };
const problem = { name: 'usage', message: 'it is wrong' };
const named = { executionId: null, projectId: 'p', automationName: 'nightly' };

test('every schema is one of the 2020-12 dialect, in strict mode', () => {
  const lenient = { strictTypes: false, strictRequired: false, validateSchema: false };
  const ajv = new Ajv2020({ strict: true, ...lenient, code: { optimize: false } });
  addFormats.default(ajv);
  for (const schema of Object.values(schemas)) expect(ajv.validateSchema(schema)).toBe(true);
  for (const schema of Object.values(schemas)) expect(() => ajv.compile(schema)).not.toThrow();
});

test.each<[string, object]>([
  ['of a run, with fields of the service that nobody knows', { ...named, status: 'RUNNING', region: 'eu', runctl: ok }],
  ['of a usage error, alone', { runctl: { ...ok, exitCode: 2, outcome: 'usage', problem } }],
])('a document %s is valid', (_, document) => {
  expect(() => checkBySchema('document', document)).not.toThrow();
});

test.each<[string, object]>([
  ['without what is ours', named],
  ['without the automation of its run', { executionId: 'e', runctl: ok }],
  ['that failed without a problem', { ...named, runctl: { ...ok, outcome: 'usage' } }],
  ['with a problem though all is well', { ...named, runctl: { ...ok, problem } }],
  ['with an outcome that is in no table', { ...named, runctl: { ...ok, outcome: 'odd' } }],
  ['with a field of ours that is in no schema', { ...named, runctl: { ...ok, odd: 1 } }],
])('a document %s is not', (_, document) => {
  expect(() => checkBySchema('document', document)).toThrow(/document: /);
});
