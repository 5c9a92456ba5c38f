import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

const fast = ['--interval', '20ms'];
const unknown = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';

/** Runs of so long a time, and `watch -` with an input that the test writes. */
async function watchInput(duration: string, flags: string[] = [], signal?: AbortSignal) {
  const { env, emulator } = await withEmulator({ automations: { '*': { duration } } });
  const ids = [];
  for (const name of ['a', 'b']) ids.push((await runProgram(['trigger', name], { env })).stdout.trim());
  const input = new PassThrough();
  const sent = emulator.requests.length;
  const ended = runProgram(['watch', '-', '--json', ...fast, ...flags], { env, input, signal });
  const polled = (id = '') =>
    vi.waitUntil(() => emulator.requests.slice(sent).some(({ url }) => url.endsWith(id)), { timeout: 10_000 });
  return { input, ended, ids, polled, emulator, sent };
}

describe('`watch -`', () => {
  test('follows runs as their lines come, and ends when the input has ended and every run is finished', async () => {
    const { input, ended, ids, polled } = await watchInput('50ms');
    input.write(`\n ${ids[0]}\r\n\n${ids[1]?.slice(0, 9)}`);
    await polled(ids[0]);
    await polled(`${ids[0]}/result`);
    input.end(ids[1]?.slice(9));
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject(ids.map((executionId) => ({ executionId, status: 'COMPLETED' })));
  });

  test('follows a run that is named twice once, and gives its document twice', async () => {
    const { input, ended, ids, emulator, sent } = await watchInput('1ms');
    input.end(`${ids[0]}\n${ids[0]}\n`);
    expect(jsonLines((await ended).stdout)).toMatchObject([{ executionId: ids[0] }, { executionId: ids[0] }]);
    expect(emulator.requests.length - sent).toBe(2);
  });

  test.each([
    ['a line that names no run', `${unknown}\n`, unknown],
    ['no line', '', 'standard input names no run'],
    ['empty lines alone', '\n \r\n', 'standard input names no run'],
    ['an endless line', 'x'.repeat(70_000), 'longer than'],
  ])('ends with 2 at %s, also while the input is open', async (what, text, message) => {
    const { input, ended, ids } = await watchInput('1h');
    if (what.startsWith('a')) input.write(`${ids[0]}\n${text}`);
    else input.end(text);
    const { code, stderr } = await ended;
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('ends with --timeout, whether or not the input has ended', async () => {
    for (const duration of ['1ms', '1h']) {
      const { input, ended, ids } = await watchInput(duration, ['--timeout', '300ms']);
      input.write(`${ids[0]}\n`);
      const { code, stderr } = await ended;
      expect(code).toBe(124);
      expect(stderr).toMatch(/^runctl: .*(timeout)/m);
    }
  });

  test('ends with the signal, whatever it has followed by then', async () => {
    for (const duration of ['1ms', '1h']) {
      const interrupt = new AbortController();
      const { input, ended, ids, polled } = await watchInput(duration, [], interrupt.signal);
      input.write(`${ids[0]}\n`);
      await polled(duration === '1h' ? ids[0] : `${ids[0]}/result`);
      interrupt.abort('SIGINT');
      const { code, stderr } = await ended;
      expect(code).toBe(130);
      expect(stderr.match(/interrupted|stopped watching/g)).toHaveLength(1);
    }
  });

  test('reads no further once --fail-fast has ended it', async () => {
    const { env } = await withEmulator({ automations: { '*': { duration: '1ms', outcome: 'FAILED' } } });
    const { stdout } = await runProgram(['trigger', 'a'], { env });
    const input = new PassThrough();
    input.write(stdout);
    expect(await runProgram(['watch', '-', '--fail-fast', ...fast], { env, input })).toMatchObject({ code: 1 });
  });
});
