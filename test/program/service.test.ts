// What the service may say of a run: fields that nobody knows, and fields that are missing or odd.
import { describe, expect, test } from 'vitest';
import type { Plan } from '../fault-kit/scenario.ts';
import { withMachine } from '../helpers/machine.ts';

/** A service whose runs of every automation do this for a short while. */
const runs = (plan: Plan) => ({ automations: { '*': { duration: '20ms', ...plan } } });

describe('fields', () => {
  test('of a run are all in its document, those that nobody knows too', async () => {
    const { run, emulator } = await withMachine(runs({ extra: { region: 'eu' } }));
    const { stdout: id } = await run('trigger nightly');
    await run('watch');
    const { documents } = await run('status --json');
    const times = { startedAt: expect.any(String), completedAt: expect.any(String), createdAt: expect.any(String) };
    const { projectId } = emulator;
    expect(documents).toMatchObject([
      { executionId: id.trim(), projectId, automationName: 'nightly', status: 'COMPLETED', region: 'eu' },
    ]);
    expect(documents).toMatchObject([{ ...times, title: null, message: null, creditsCharged: expect.any(Number) }]);
  });

  test('of a result are its output, its steps and its error', async () => {
    const plan = { steps: { count: 5, failed: 0, skipped: 2 }, output: 'line 1\nline 2' };
    const { run } = await withMachine(runs(plan));
    await run('trigger nightly --watch');
    expect((await run('result --field summary.stepCount,summary.skippedSteps,error')).stdout).toBe('5\t2\t\n');
    const { stdout } = await run('result');
    expect(stdout).toContain('3 succeeded, 0 failed, 2 skipped of 5');
    expect(stdout).toMatch(/\nline 1\nline 2\n$/);
  });

  test.each([
    ['missing', { startedAt: undefined }],
    ['null', { startedAt: null, createdAt: null, creditsCharged: null, summary: null }],
    ['of another type', { startedAt: 7, completedAt: {}, creditsCharged: 'many', summary: [], error: 'sad', title: 9 }],
    ['no text', { output: { a: 1 } }],
  ])('that are %s crash nothing', async (_, extra) => {
    const { run } = await withMachine(runs({ extra }));
    expect(await run('trigger nightly --watch')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('COMPLETED'),
    });
    expect([(await run('status')).code, (await run('result')).code]).toEqual([0, 0]);
  });
});
