import { describe, expect, onTestFinished, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { openScreen, type Screen, type ScreenOptions } from '../helpers/screen.ts';

const esc = '\u001B';
const ctrlC = '\u0003';
const bell = '\u0007';
const quick: Scenario = { automations: { '*': { duration: '700ms' } } };
/** Goes on until the test ends it. */
const going: Scenario = { automations: { '*': { duration: '1h' } } };
const failing: Scenario = {
  automations: {
    '*': {
      duration: '300ms',
      outcome: 'FAILED',
      error: { type: 'step_failed', message: `Step "Post": ${esc}[2J${esc}]0;owned${bell}the ledger answered 403` },
    },
  },
};
const watching = ['trigger', 'nightly', '--watch', '--interval', '100ms'];

async function onScreen(
  argv: string[],
  scenario: Scenario,
  { env = {}, ...size }: Partial<ScreenOptions> = {},
): Promise<Screen & Awaited<ReturnType<typeof withEmulator>>> {
  const stage = await withEmulator(scenario);
  const screen = openScreen(argv, { ...size, env: { ...stage.env, ...env } });
  onTestFinished(screen.kill);
  return { ...stage, ...screen };
}

/** What is on the screen in the end, and the exit code. */
async function atTheEnd(screen: Screen): Promise<{ code: number; lines: string[]; text: string }> {
  const code = await screen.exit;
  const lines = await screen.lines();
  return { code, lines, text: lines.join('\n') };
}

describe('a watch on a terminal', () => {
  test.each([20, 40, 80, 200, 300])('of %i columns keeps to one line while the run goes', async (columns) => {
    const screen = await onScreen(['trigger', 'a-name-of-some-length', '--watch'], going, { columns });
    await screen.sees(/RUNNING [1-9]s/);
    const lines = await screen.lines();
    screen.endRuns();
    expect(lines.filter((line) => line.includes('RUNNING'))).toEqual([lines.at(-1)]);
    expect(lines.at(-1)?.length).toBeLessThan(columns);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
    expect(text).toMatch(/✔ COMPLETED\s/);
  });

  test.each([
    ['narrower', 40],
    ['wider', 120],
  ])('that becomes %s leaves nothing behind', async (_, columns) => {
    const screen = await onScreen(watching, going);
    await screen.sees(/RUNNING/);
    screen.resize(columns, 20);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
  });

  test('hides the cursor, and shows it again', async () => {
    const screen = await onScreen(watching, quick);
    await screen.exit;
    const written = screen.written();
    expect(written).toContain(`${esc}[?25l`);
    expect(written.lastIndexOf(`${esc}[?25h`)).toBeGreaterThan(written.lastIndexOf(`${esc}[?25l`));
  });

  test('ends at once with Ctrl-C, says that the run goes on, and gives the cursor back', async () => {
    const screen = await onScreen(watching, going);
    await screen.sees(/RUNNING/);
    screen.type(ctrlC);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(130);
    expect(text).toContain('interrupted: the run goes on');
    expect(text).toContain(`runctl watch ${screen.emulator.runs()[0]?.executionId}`);
    const written = screen.written();
    expect(written.lastIndexOf(`${esc}[?25h`)).toBeGreaterThan(written.lastIndexOf(`${esc}[?25l`));
  });

  test('tells the last confirmed state and its age while nothing answers', async () => {
    const faults: Scenario['faults'] = [{ on: 'status', from: 3, do: 'status', status: 502 }];
    const screen = await onScreen([...watching, '--give-up-after', '4s'], { ...going, faults });
    expect(await screen.sees(/last seen RUNNING [1-9](\.\d)?s ago/)).toContain('502');
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(10);
    expect(text).toContain('the run may still be going, last seen RUNNING');
  });

  test('shows how long the automation usually takes, and when it takes longer', async () => {
    const scenario: Scenario = { automations: { '*': { duration: '1s' } } };
    const { env } = await withEmulator(scenario);
    for (let run = 1; run <= 3; run++) await openScreen([...watching, '-q'], { env }).exit;
    const screen = openScreen(watching, { env });
    await screen.sees(/RUNNING.* · usually 1s/);
    expect(await screen.exit).toBe(0);
  });

  test('of a dumb terminal is told in plain lines', async () => {
    const screen = await onScreen(watching, quick, { env: { TERM: 'dumb' } });
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(screen.written()).not.toContain(esc);
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\S+Z nightly COMPLETED$/m);
  });
});

describe('a board of several runs', () => {
  test('has a line for each that goes, and keeps a line of each that has ended', async () => {
    const scenario: Scenario = { automations: { '*': { duration: '1h' }, quick: { duration: '4s' } } };
    const screen = await onScreen(['trigger', 'quick', 'slow', '--watch', '--interval', '100ms'], scenario);
    await screen.sees(/2 going · 0 completed/);
    await screen.sees(/1 going · 1 completed/);
    const lines = await screen.lines();
    expect(lines.filter((line) => /✔ COMPLETED quick/.test(line))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(/^ {2}slow RUNNING \d+s/);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('going');
    // The summaries stand apart from the talk.
    expect(text).toMatch(/✔ COMPLETED slow 1h \S+\n\n✔ COMPLETED quick in /);
    expect(text).toMatch(/\n\n2 of 2 runs completed/);
  });

  test('counts those that were not started, and says why at once', async () => {
    const faults: Scenario['faults'] = [{ on: 'trigger', automation: 'lost', do: 'reset' }];
    const screen = await onScreen(['trigger', 'busy', '-q'], { ...going, faults });
    await screen.exit;
    const argv = ['trigger', 'busy', 'lost', 'free', '--watch', '--interval', '100ms', '--give-up-after', '1s'];
    const board = openScreen(argv, { ...screen, columns: 100 });
    await board.sees(/1 going · 0 completed · 1 in doubt · 1 not started/);
    expect((await board.lines()).join(' ')).toContain('busy is already running, no run was started');
    screen.endRuns();
    // That a run may have been started weighs more than that one was refused.
    expect(await board.exit).toBe(12);
  });

  test('past a screenful shows the counts and the latest changes', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `automation-${index}`);
    const screen = await onScreen(['trigger', ...names, '--watch', '--rate', '100'], going, { rows: 10 });
    await screen.sees(/12 going/);
    await screen.sees(/automation-\d+ RUNNING/);
    const lines = await screen.lines();
    expect(lines.filter((line) => line.includes('RUNNING')).length).toBeLessThanOrEqual(5);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
    expect(text).toContain('12 of 12 runs completed');
  });
});

describe('colour', () => {
  const sgr = new RegExp(`${esc}\\[[\\d;]*m`);

  test('sets the outcome off, and means the same without', async () => {
    const colored = await onScreen(watching, failing);
    const plain = await onScreen(watching, failing, { env: { NO_COLOR: '1' } });
    const ends = [await atTheEnd(colored), await atTheEnd(plain)];
    const [withColor, without] = ends.map(({ text }) => text.replaceAll(/[0-9a-f-]{36}/g, '<id>'));
    expect(colored.written()).toContain(`${esc}[31m✖ FAILED`);
    expect(plain.written()).not.toMatch(sgr);
    expect(without?.replaceAll('`', '')).toBe(withColor);
  });

  test('is left out of a report that goes to a file', async () => {
    const { env } = await withEmulator(failing);
    const { stdout, stderr } = await runProgram(watching, { env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8' } });
    expect(stdout + stderr).not.toMatch(sgr);
    expect(stdout).toContain('✖ FAILED');
  });
});

test('a locale without Unicode gets ASCII alone', async () => {
  const screen = await onScreen(watching, failing, { env: { LANG: 'C' } });
  const { text } = await atTheEnd(screen);
  expect(text).toContain('x FAILED');
  expect(screen.written()).toMatch(/^[\0-\x7f]*$/);
});

test('what the service says moves no cursor, sets no title and clears no screen', async () => {
  const screen = await onScreen(watching, failing);
  const { text } = await atTheEnd(screen);
  expect(text).toContain('the ledger answered 403');
  expect(screen.written()).not.toContain('owned');
  expect(screen.written()).not.toContain(`${esc}[2J`);
});

test('--bell rings once, at the end', async () => {
  const screen = await onScreen([...watching, '--bell'], going);
  await screen.sees(/RUNNING/);
  expect(screen.written()).not.toContain(bell);
  screen.endRuns();
  await screen.exit;
  expect(screen.written().split(bell)).toHaveLength(2);
});

describe('runctl config alone', () => {
  const answer = async (screen: Screen, question: RegExp, text: string) => {
    await screen.sees(question);
    screen.type(`${text}\r`);
  };
  const unset = { RUNCTL_API_KEY: '', RUNCTL_BASE_URL: '', RUNCTL_PROJECT: '' };

  test('asks for address, key and project, and checks them', async () => {
    const screen = await onScreen(['config'], quick, { env: unset });
    const { url, apiKey, projectId } = screen.emulator;
    await answer(screen, /base address/, url);
    await answer(screen, /API key/, apiKey);
    await answer(screen, /project/, projectId);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).toContain('answers and takes this key');
    expect(text).toContain('Not checked');
    expect(screen.written()).not.toContain(apiKey);
    const env = { ...screen.env, ...unset };
    const status = openScreen(['trigger', 'nightly'], { env });
    expect(await status.exit).toBe(0);
  });

  test('asks again for what cannot be, and stores nothing after Ctrl-C', async () => {
    const screen = await onScreen(['config'], quick, { env: unset });
    await answer(screen, /base address/, 'http://example.com');
    await screen.sees(/must begin with https/);
    await answer(screen, /base address/, screen.emulator.url);
    await screen.sees(/API key/);
    screen.type(ctrlC);
    expect(await screen.exit).toBe(130);
    const list = openScreen(['config', 'get', 'baseUrl'], { env: { ...screen.env, ...unset } });
    expect(await list.exit).toBe(2);
  });

  test('says when the key is refused, and keeps the answers to be mended', async () => {
    const screen = await onScreen(['config'], quick, { env: unset });
    await answer(screen, /base address/, screen.emulator.url);
    await answer(screen, /API key/, 'another-key-0000');
    await answer(screen, /project/, '');
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(7);
    expect(text.replaceAll(/\s+/g, ' ')).toContain('the settings are stored, but they do not work yet');
    const again = openScreen(['config'], { env: { ...screen.env, ...unset } });
    await again.sees(/base address .*\[http/);
    await answer(again, /base address/, '');
    await answer(again, /API key .*\[\*{4}0000\]/, screen.emulator.apiKey);
    await answer(again, /project/, '');
    expect(await again.exit).toBe(0);
  });
});
