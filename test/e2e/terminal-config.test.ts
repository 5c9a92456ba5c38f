import { describe, expect, test } from 'vitest';
import { onScreen } from '../helpers/on-screen.ts';
import { runProgram } from '../helpers/run-program.ts';
import { openScreen, type ProcessScreen } from '../helpers/screen.ts';
import { atTheEnd } from '../helpers/screen-reader.ts';

const ctrlC = '\u0003';

describe('runctl config alone', () => {
  const answer = async (screen: ProcessScreen, question: RegExp, text: string) => {
    await screen.sees(question);
    screen.type(`${text}\r`);
  };
  const unset = { RUNCTL_API_KEY: '', RUNCTL_BASE_URL: '', RUNCTL_PROJECT: '' };

  test('asks for base URL, key and project, and checks them', async () => {
    const screen = await onScreen(['config'], {}, { env: unset });
    const { url, apiKey, projectId } = screen.emulator;
    await answer(screen, /base URL/, url);
    await answer(screen, /API key/, apiKey);
    await answer(screen, /project/, projectId);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).toContain('responds and accepts this API key');
    expect(screen.written()).not.toContain(apiKey);
    const env = { ...screen.env, ...unset };
    expect(await runProgram(['trigger', 'nightly'], { env })).toMatchObject({ code: 0 });
  });

  test('asks again for what cannot be, and stores nothing after Ctrl-C', async () => {
    const screen = await onScreen(['config'], {}, { env: unset });
    await answer(screen, /base URL/, 'http://example.com');
    await screen.sees(/must begin with https/);
    await answer(screen, /base URL/, screen.emulator.url);
    await screen.sees(/API key/);
    screen.type(ctrlC);
    expect(await screen.exit).toBe(130);
    const got = await runProgram(['config', 'get', 'baseUrl'], { env: { ...screen.env, ...unset } });
    expect(got).toMatchObject({ code: 2 });
  });

  test('says when the key is refused, and keeps it where that is wanted', async () => {
    const screen = await onScreen(['config'], {}, { env: unset });
    await answer(screen, /base URL/, screen.emulator.url);
    await answer(screen, /API key/, 'another-key-0000');
    await screen.sees(/That doesn't work/);
    await answer(screen, /API key .*\[\*{4}0000\]/, '');
    await answer(screen, /project/, '');
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(7);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      "the settings are saved but don't work: the API key was refused (HTTP 401",
    );
    const again = openScreen(['config'], { env: { ...screen.env, ...unset } });
    await again.sees(/base URL .*\[http/);
    await answer(again, /base URL/, '');
    await answer(again, /API key .*\[\*{4}0000\]/, screen.emulator.apiKey);
    await answer(again, /project/, '');
    expect(await again.exit).toBe(0);
  });
});
