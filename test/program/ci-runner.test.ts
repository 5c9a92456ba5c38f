// In a step of GitHub Actions the runner reads every line that the program prints: no text of the service, of the command
// line or of the environment may be a command to it.
import { describe, expect, test } from 'vitest';
import { environment } from '../helpers/leaks.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { runProgram } from '../helpers/run-program.ts';
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
const patience = ['--give-up-after', '2s', '--interval', '1s'];
const name = 'a##[group]::error::b';

describe.each([
  ['fails', answerTo('FAILED')],
  ['has an unknown status until nobody waits any longer', answerTo(words)],
  ['is refused', answerTo('', 400)],
  ['gets no answer', answerTo('', 503)],
])('of a run that %s nothing is a command to the runner', (_, fault) => {
  test.each([
    ['trigger', name, '--watch', '--debug', '--timeout', '5s', ...patience],
    ['trigger', 'nightly', '--watch', '--json', '--timeout', '5s', ...patience],
    ['watch', run, '--json', '--timeout', '5s', ...patience],
    ['status', run, ...patience.slice(0, 2)],
    ['result', run, ...patience.slice(0, 2)],
    ['list'],
    ['list', '--json'],
  ])('by `%s %s`', async (...argv) => {
    const { env: settings } = await startFaultyService(() => fault);
    const env = { ...environment(settings), GITHUB_ACTIONS: 'true', RUNCTL_CONFIG_DIR: `/nowhere/${words}` };
    if (argv[0] === 'list') await runProgram(['trigger', name, '-q'], { env, clock: createLeapingClock() });
    const ended = await runProgram(argv, { env, clock: createLeapingClock() });
    expect(ended.code).not.toBe(70);
    expect(commandsIn(`${ended.stdout}\n${ended.stderr}`)).toEqual([]);
  });
});

test('`--field` gives a value as it is, for it is data', async () => {
  const { env: settings } = await startFaultyService(() => answerTo('FAILED'));
  const env = { ...environment(settings), GITHUB_ACTIONS: 'true' };
  expect((await runProgram(['result', run, '--field', 'output'], { env })).stdout).toBe(`${words}\n`);
});
