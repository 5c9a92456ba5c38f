import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import type { FaultyEmulator } from '../fault-kit/start.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { interrupted, longest } from '../helpers/interrupted.ts';
import { needs } from '../helpers/needs.ts';
import { entry, runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { openTerminal } from '../helpers/screen.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const signals = Object.keys(codes) as (keyof typeof codes)[];
const slow: Scenario = { automations: { '*': { duration: '1h' } } };
const trigger = async (env: Record<string, string>, name = 'nightly') =>
  (await runProgram(['trigger', name, '-q'], { env })).stdout.trim();
const statesOf = (emulator: FaultyEmulator) => emulator.runs().map(({ status }) => status);

/** Every line of the journal. A half-written one makes this throw. */
function journalOf(env: Record<string, string>): { type: string }[] {
  const folder = env.RUNCTL_STATE_DIR ?? '';
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.jsonl'));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  return texts.flatMap((text) => text.split('\n').filter(Boolean)).map((line) => JSON.parse(line));
}

describe.each(signals)('%s', (signal) => {
  test('during a watch leaves the run alone, says how to resume, and still prints the document', async () => {
    const { env, emulator } = await withEmulator(slow);
    const id = await trigger(env);
    const ended = await interrupted(['watch', id, '--json', '--interval', '20ms'], {
      env,
      emulator,
      signal,
      requests: 2,
    });
    expect(ended).toMatchObject({ code: codes[signal] });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(ended.stderr).toContain(`runctl watch ${id}`);
    expect(ended.stderr).toContain('the run continues');
    expect(ended.stderr.includes('`setsid -f`')).toBe(signal === 'SIGHUP');
    expect(JSON.parse(ended.stdout)).toMatchObject({
      executionId: id,
      status: 'RUNNING',
      runctl: { exitCode: codes[signal], outcome: 'interrupted', lastConfirmed: { status: 'RUNNING' } },
    });
    expect(statesOf(emulator)).toEqual(['RUNNING']);
  });
});

test('SIGTERM while a trigger is on its way leaves an unresolved one, which `recover` resolves', async () => {
  const faults: Scenario['faults'] = [{ on: 'trigger', nth: 1, do: 'hang', acts: true }];
  const { env, emulator } = await withEmulator({ ...slow, faults });
  const ended = await interrupted(['trigger', 'nightly', '--json'], { env, emulator, signal: 'SIGTERM', requests: 1 });
  expect(ended).toMatchObject({ code: 143 });
  expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
  expect(ended.stderr).toContain('runctl recover');
  expect(JSON.parse(ended.stdout).runctl).toMatchObject({ exitCode: 143, trigger: { started: 'unknown' } });
  expect(journalOf(env).map(({ type }) => type)).toContain('triggered');
  const recovered = await runProgram(['recover'], { env });
  expect(recovered).toMatchObject({ code: 0, stdout: `${emulator.runs()[0]?.executionId}\n` });
  expect(statesOf(emulator)).toEqual(['RUNNING']);
});

test('SIGINT while the result is waited for reports how the run finished, and no more', async () => {
  const { env, emulator } = await withEmulator({
    automations: { '*': { duration: '1ms' } },
    faults: [{ on: 'result', do: 'hang' }],
  });
  const id = await trigger(env);
  const ended = await interrupted(['watch', id], { env, emulator, requests: 2 });
  expect(ended).toMatchObject({ code: 130, stdout: expect.stringContaining('COMPLETED nightly') });
  expect(ended.stderr).toContain(`runctl result ${id}`);
});

test('a stop of the process (SIGSTOP) with a request in flight loses nothing: the answer is read when it continues', async () => {
  const { env, emulator } = await withEmulator({
    automations: { '*': { duration: '1ms' } },
    faults: [{ on: 'status', nth: 1, do: 'delay', delay: '1s' }],
  });
  const { stdout: id } = await runProgram(['trigger', 'nightly'], { env });
  let child: ChildProcess | undefined;
  const ended = runProcess(['watch', id.trim(), '--give-up-after', '1s'], {
    env: { ...env, RUNCTL_REQUEST_TIMEOUT: '1500ms' },
    onStart: (started) => {
      child = started;
    },
  });
  await vi.waitUntil(() => emulator.requests.some(({ method }) => method === 'GET'), longest);
  child?.kill('SIGSTOP');
  // Longer than the request may take, and than the service may be silent.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  child?.kill('SIGCONT');
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  expect(stdout).toContain('COMPLETED');
});

test('a watch in the background of a terminal that is closed exits with the code of its run', async (context) => {
  needs(context, 'setsid');
  const { env } = await withEmulator({ automations: { '*': { duration: '1s' } } }, { nowMs: Date.now });
  const id = await trigger(env);
  const log = join(temporaryFolder(), 'log');
  const WATCH = `'${process.execPath}' '${entry}' watch ${id} --interval 100ms > ${log} 2>&1; echo $? >> ${log}`;
  // Its stdin stays the terminal.
  const terminal = openTerminal('/bin/sh', ['-c', 'setsid -f sh -c "$WATCH"; sleep 0.3'], { env: { ...env, WATCH } });
  await terminal.exit;
  terminal.hangUp();
  await vi.waitFor(() => expect(readFileSync(log, 'utf8')).toMatch(/^\d+\n$/m), longest);
  expect(readFileSync(log, 'utf8')).toMatch(/COMPLETED[\s\S]*\n0\n$/);
});
