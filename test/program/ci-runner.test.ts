// In a step of GitHub Actions the runner reads every line that the program prints: no text of the service, of the command
// line or of the environment may be a command to it.
import { expect, test } from 'vitest';
import { withMachine } from '../helpers/machine.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';

const hostile = [
  '##[stop-commands]t',
  '\u0085::add-mask::a',
  '\r\u0000::set-output name=a::b',
  'x ###[group]::error::c',
];
const words = hostile.join('\n');

/** Says something hostile wherever it can say anything. */
function answerTo(status: string, code = 200) {
  const error = { type: words, message: words };
  const fields = { executionId, status, title: words, message: words, output: words, error, code: words };
  return answer(code, JSON.stringify(fields), 'x-request-id: ##[error]::error::a');
}

/** What the runner obeys in a text: lines as .NET reads them, blanks as it trims them (Unicode's, NEL among them). */
function commandsIn(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  return lines.filter((line) => /^[\s\u0085]*::/.test(line) || line.includes('##['));
}

const run = `${projectId}/nightly/${executionId}`;
const name = 'a##[group]::error::b';

const lines = [
  `trigger ${name} --watch --debug --timeout 5s --give-up-after 2s`,
  'trigger nightly --watch --json --timeout 5s --give-up-after 2s',
  `watch ${run} --json --timeout 5s --give-up-after 2s`,
  `status ${run} --give-up-after 2s`,
  `result ${run} --give-up-after 2s`,
  'list',
  'list --json',
];

test.each([
  ['fails', answerTo('FAILED')],
  ['has an unknown status until nobody waits any longer', answerTo(words)],
  ['is refused', answerTo('', 400)],
  ['gets no answer', answerTo('', 503)],
])('a run that %s gives no command to the runner', async (_, fault) => {
  const obeyed: Record<string, string[]> = {};
  for (const line of lines) {
    const machine = await withMachine();
    const { env } = await startFaultyService(() => fault);
    const inAction = { env: { ...env, GITHUB_ACTIONS: 'true', RUNCTL_CONFIG_DIR: `/nowhere/${words}` } };
    if (line.startsWith('list')) await machine.run(['trigger', name, '-q', '--give-up-after', '2s'], inAction);
    const { code, stdout, stderr } = await machine.run(line, inAction);
    expect(code).not.toBe(70);
    obeyed[line] = commandsIn(`${stdout}\n${stderr}`);
  }
  expect(obeyed).toEqual(Object.fromEntries(lines.map((line) => [line, []])));
});

test('`--field` prints a value unchanged, because it is data', async () => {
  const machine = await withMachine();
  const { env } = await startFaultyService(() => answerTo('FAILED'));
  const inAction = { env: { ...env, GITHUB_ACTIONS: 'true' } };
  expect((await machine.run(`result ${run} --field output`, inAction)).stdout).toBe(`${words}\n`);
});
