import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Problem } from '../../src/problems/problem.ts';
import {
  errorAnnotation,
  guardFromRunner,
  jobSummary,
  reportToGithub,
  type SummaryPart,
  withoutCommands,
  withoutCommandsInJson,
  writeStepOutputs,
} from '../../src/render/github-actions.ts';
import type { JsonObject } from '../../src/runs/json.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { hasFullDisk } from '../helpers/needs.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test.each([
  ['nightly FAILED', 'it broke', '::error title=nightly FAILED::it broke\n'],
  ['100%', '50% done', '::error title=100%25::50%25 done\n'],
  ['a: b, c', 'a: b, c', '::error title=a%3A b%2C c::a: b, c\n'],
  ['two\nlines', 'two\r\nlines\n', '::error title=two lines::two%0Alines%0A\n'],
  ['red', '\u001B[31mred\u001B[0m \u202Ehidden', '::error title=red::red hidden\n'],
  ['::add-mask::x', '::stop-commands::x', '::error title=%3A%3Aadd-mask%3A%3Ax::: :stop-commands: :x\n'],
])('an annotation with the title %j and the message %j', (title, message, line) => {
  expect(errorAnnotation(title, message)).toBe(line);
});

test.each([
  ['::set-output name=a::b', ': :set-output name=a: :b'],
  ['fine\n  ::add-mask::a', 'fine\n  : :add-mask: :a'],
  ['in the middle ::add-mask::a', 'in the middle : :add-mask: :a'],
  ['\u0085::Group::a', '\u0085: :Group: :a'],
  [':::notice::a', ':: :notice: :a'],
  ['[::1]:8080', '[::1]:8080'],
  ['###[group]a', '### [group]a'],
  ['anywhere ##[command]rm', 'anywhere ## [command]rm'],
  ['a: b', 'a: b'],
])('nothing in %j is obeyed by the runner', (text, shown) => {
  expect(withoutCommands(text)).toBe(shown);
});

test('a JSON document without commands is the same document', () => {
  const document = { a: '##[group]', b: ['###[x', '::error::'] };
  const json = withoutCommandsInJson(JSON.stringify(document));
  expect(json).not.toContain('##[');
  expect(JSON.parse(json)).toEqual(document);
});

const executionId = 'fbd1e27d-ba33-4b31-b890-f2b2fbded43b';
const projectId = '00000000-0000-4000-8000-000000000001';

function failed(about: string, message: string): SummaryPart {
  const run = { target: { family: 'automation', projectId, automationName: about }, executionId } as const;
  const document = {};
  return {
    about,
    watched: {
      kind: 'finished',
      run,
      execution: { executionId, status: 'FAILED', isFinal: true, document },
      result: { status: 'FAILED', isFinal: true, error: { type: 'step_failed', message }, document },
    },
  };
}

test('a job summary has a heading and a block for each run', () => {
  const text = jobSummary([failed('nightly', 'the mail server said no'), failed('weekly', 'so did this one')]);
  expect(text.match(/^### .*$/gm)).toEqual(['### ✖ FAILED nightly', '### ✖ FAILED weekly']);
  expect(text).toMatch(/error +step_failed: the mail server said no/);
  expect(text).toContain(executionId);
});

test('a heading of a job summary shows a name that is Markdown or HTML as it is', () => {
  const text = jobSummary([failed('<img src=x> **a** [b](c) | `d`', '')]);
  expect(text.split('\n')[0]).toBe('### ✖ FAILED \\<img src\\=x\\> \\*\\*a\\*\\* \\[b\\]\\(c\\) \\| \\`d\\`');
});

test('text of the service cannot end the block of a job summary', () => {
  const text = jobSummary([failed('nightly', 'a ```` b')]);
  expect(text.match(/^`+.*$/gm)).toEqual(['`````text', '`````']);
});

test('a job summary of an endless text is cut, for one of more than 1 MiB is refused', () => {
  expect(jobSummary([failed('nightly', 'x'.repeat(2_000_000))]).length).toBeLessThan(70_000);
});

test('a trigger that failed is in the job summary with its hint', () => {
  const problem = new Problem({ name: 'no_credits', message: 'the AI credit balance is 0', hint: 'top up' });
  expect(jobSummary([{ about: 'nightly', problem }])).toBe(
    '### ✖ nightly\\: no\\_credits\n\n```text\nthe AI credit balance is 0\ntop up\n```\n\n',
  );
});

test('a run that was only started is not in the job summary', () => {
  expect(jobSummary([{ about: 'nightly' }])).toBe('');
});

const key = 'key-0123456789';

interface ReportOptions {
  summary?: string;
  output?: string;
  document?: JsonObject;
  env?: Record<string, string>;
}

async function reported(part: SummaryPart, { summary, output, document = {}, env }: ReportOptions = {}) {
  const folder = temporaryFolder();
  const files = { GITHUB_STEP_SUMMARY: join(folder, 'summary.md'), GITHUB_OUTPUT: join(folder, 'output') };
  const given = {
    GITHUB_STEP_SUMMARY: summary ?? files.GITHUB_STEP_SUMMARY,
    GITHUB_OUTPUT: output ?? files.GITHUB_OUTPUT,
  };
  const memory = createMemory({ GITHUB_ACTIONS: 'true', ...given, ...env });
  memory.secrets.protect(key);
  const warnings: unknown[] = [];
  const reporter = { observe: (event: unknown) => warnings.push(event), stop() {} };
  const context = { ...guardFromRunner(memory), reporter };
  await reportToGithub([part], context);
  await writeStepOutputs(document, 1, context);
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  return {
    annotations: memory.err(),
    warnings,
    summary: read(files.GITHUB_STEP_SUMMARY),
    output: read(files.GITHUB_OUTPUT),
  };
}

test('a run that failed is an annotation with its error and a part of the summary, without secrets', async () => {
  const { annotations, summary } = await reported(failed('nightly', `refused ${key}`));
  expect(annotations).toMatch(/^::error title=nightly FAILED::step_failed: refused .*\n$/);
  expect(summary).toMatch(/^### .*FAILED nightly/);
  expect(summary).not.toContain(key);
});

test('a run that failed without an error is annotated with its status', async () => {
  const { watched, about } = failed('nightly', '');
  const part = { about, watched: watched && { ...watched, result: undefined } };
  expect((await reported(part)).annotations).toBe('::error title=nightly FAILED::the run finished FAILED\n');
});

test('a run that completed is in the summary without its output, and is no annotation', async () => {
  const { watched, about } = failed('nightly', '');
  const execution = { executionId, status: 'COMPLETED', isFinal: true, document: {} };
  const result = { status: 'COMPLETED', isFinal: true, output: 'the salaries', document: {} };
  const { annotations, summary } = await reported({ about, watched: watched && { ...watched, execution, result } });
  expect(annotations).toBe('');
  expect(summary).toContain('COMPLETED nightly');
  expect(summary).not.toContain('salaries');
});

test.each<[JsonObject, string]>([
  [
    { executionId, status: 'COMPLETED' },
    `execution-id=${executionId}\nstatus=COMPLETED\nstarted=no\noutcome=\nexit-code=1\n`,
  ],
  [
    { executionId: null, runctl: { outcome: 'no_credits', trigger: { started: 'unknown' } } },
    'execution-id=\nstatus=\nstarted=unknown\noutcome=no_credits\nexit-code=1\n',
  ],
  [{ status: 'A\nb=c\r\nd<<e' }, 'execution-id=\nstatus=A b=c d<<e\nstarted=no\noutcome=\nexit-code=1\n'],
  [{ status: `${key}\u0085x=y\u2028z=1` }, 'execution-id=\nstatus=[secret]x=yz=1\nstarted=no\noutcome=\nexit-code=1\n'],
])('the outputs of the step for %j have a line each, whatever it holds', async (document, lines) => {
  expect((await reported(failed('nightly', ''), { document })).output).toBe(lines);
});

test("files of the runner that can't be written are warnings, and none are written where they are not named", async () => {
  expect((await reported(failed('nightly', ''), { summary: '', output: '' })).warnings).toEqual([]);
  const nowhere = '/nowhere/at/all';
  expect((await reported(failed('nightly', ''), { summary: nowhere, output: nowhere })).warnings).toMatchObject([
    { event: 'warning', message: "the job summary couldn't be written (ENOENT)" },
    { event: 'warning', message: "the outputs of the step couldn't be written (ENOENT)" },
  ]);
});

test.runIf(hasFullDisk)('a pipe that nobody reads in place of the files does not hold the command', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const { warnings } = await reported(failed('nightly', ''), { summary: pipe, output: '/dev/full' });
  expect(warnings).toMatchObject([
    { message: "the job summary couldn't be written (ENXIO)" },
    { message: "the outputs of the step couldn't be written (ENOSPC)" },
  ]);
});

test('RUNCTL_CI=0 turns annotations, summary and outputs off', async () => {
  const told = await reported(failed('nightly', ''), { document: { executionId }, env: { RUNCTL_CI: '0' } });
  expect(told).toEqual({ annotations: '', warnings: [] });
});
