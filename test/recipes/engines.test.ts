import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Scenario } from '../fault-kit/scenario.ts';
import { needs } from '../helpers/needs.ts';
import { python, withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';
import { codesNotToRepeat } from './codes-not-to-repeat.ts';

/** A line of an engine, twice: the second time as a retry on another machine, with the same name of the engine's run. */
async function runTwice(argv: readonly string[], scenario?: Scenario) {
  const { emulator, folder, run, settings } = await withBareMachine(scenario);
  const machines = ['here', 'elsewhere'].map((name) => ({ ...settings, RUNCTL_STATE_DIR: join(folder, name) }));
  const ended = await Promise.all(machines.map((env) => run(argv, { env })));
  const keys = emulator.runs().map(({ idempotencyKey }) => idempotencyKey);
  return { codes: ended.map(({ code }) => code), keys };
}

test('the step of GitHub Actions starts one run, also when its job is run again, and hands on its id', async () => {
  const { steps } = parse(blockOf('GitHub Actions', 'yaml'));
  const step = steps.find(({ id }: { id?: string }) => id === 'nightly');
  const { emulator, folder, run, settings } = await withBareMachine();
  const GITHUB_OUTPUT = join(folder, 'outputs');
  const KEY = step.env.KEY.replace(/\$\{\{ github\.(\w+) \}\}/g, (_: string, name: string) => `its-${name}`);
  const env = { ...settings, GITHUB_ACTIONS: 'true', CI: 'true', GITHUB_OUTPUT, KEY };
  for (const state of ['here', 'elsewhere']) {
    const own = { ...env, RUNCTL_STATE_DIR: join(folder, state) };
    expect(await run(['bash', '--norc', '-e', '-c', step.run], { env: own })).toMatchObject({ code: 0 });
  }
  const [{ executionId, idempotencyKey } = {}, ...others] = emulator.runs();
  expect(others).toEqual([]);
  expect(idempotencyKey).toMatch(/^gh-its-run_id-its-job-.*nightly$/);
  expect(readFileSync(GITHUB_OUTPUT, 'utf8')).toBe(`execution-id=${executionId}\n`.repeat(2));
});

test('the CronJob of Kubernetes starts one run, also from a second pod, and fails where trying again cannot help', async () => {
  const { podFailurePolicy, template } = parse(blockOf('Kubernetes', 'yaml')).spec.jobTemplate.spec;
  const args = template.spec.containers[0].args.map((word: string) => word.replace('$(JOB)', 'nightly-29388120'));
  expect(await runTwice(['runctl', ...args])).toEqual({ codes: [0, 0], keys: ['nightly-29388120'] });
  const [ignored, failed] = podFailurePolicy.rules;
  expect([ignored.action, failed.action, failed.onExitCodes.values]).toEqual(['Ignore', 'FailJob', codesNotToRepeat]);
  expect(template.spec.restartPolicy).toBe('Never'); // what a podFailurePolicy needs
});

test('the task of Airflow starts one run, also when it is retried elsewhere, and reports a failed one again', async (context) => {
  needs(context, 'python3');
  const script = `import ast, json, sys
calls = [node for node in ast.walk(ast.parse(sys.stdin.read())) if isinstance(node, ast.Call)]
[operator] = [call for call in calls if call.func.id == "BashOperator"]
print(json.dumps({word.arg: ast.literal_eval(word.value) for word in operator.keywords}))`;
  const task = JSON.parse(
    execFileSync(python, ['-c', script], { input: blockOf('Airflow', 'python'), encoding: 'utf8' }),
  );
  const runId = 'scheduled__2026-11-21T02:00:00+00:00';
  const argv = ['bash', '--norc', '-c', task.bash_command.replace('{{ run_id }}', runId)];
  const once = [`nightly-${runId}`];
  expect(await runTwice(argv)).toEqual({ codes: [0, 0], keys: once });
  const failsFirst: Scenario = { automations: { '*': { duration: '1ms', outcome: ['FAILED', 'COMPLETED'] } } };
  expect(await runTwice(argv, failsFirst)).toEqual({ codes: [1, 1], keys: once });
  expect([task.append_env, task.retries]).toEqual([true, 3]);
});
