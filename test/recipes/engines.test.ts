import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { exitCodeOf } from '../../src/run/exit-codes.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { needs } from '../helpers/needs.ts';
import { python, withBareMachine } from './bare-machine.ts';
import { blockOf, blocksOf } from './blocks.ts';
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
  const { podFailurePolicy, template } = parse(blockOf('Kubernetes', 'yaml', 'apiVersion')).spec.jobTemplate.spec;
  const args = template.spec.containers[0].args.map((word: string) => word.replace('$(JOB)', 'nightly-29388120'));
  expect(await runTwice(['runctl', ...args])).toEqual({ codes: [0, 0], keys: ['nightly-29388120'] });
  const [ignored, failed] = podFailurePolicy.rules;
  expect([ignored.action, failed.action, failed.onExitCodes.values]).toEqual(['Ignore', 'FailJob', codesNotToRepeat]);
  expect(template.spec.restartPolicy).toBe('Never'); // what a podFailurePolicy needs
});

test('the image of Kubernetes has the package that `npm run pack` makes, and runctl as its entry point', () => {
  const lines = blockOf('Kubernetes', 'dockerfile').trim().split('\n');
  expect(lines).toContain('COPY runctl-*.tgz /tmp/runctl.tgz');
  expect(lines.find((line) => line.startsWith('RUN npm install --global /tmp/runctl.tgz'))).toBeDefined();
  expect(lines.at(-1)).toBe('ENTRYPOINT ["runctl"]');
});

/** What a kubelet does with `fsGroup` when it mounts a volume: it gives files to the group, all of them unless the policy says otherwise. */
function mountForGroup(volume: string, policy?: string) {
  const isMounted = existsSync(join(volume, 'lost+found'));
  if (policy === 'OnRootMismatch' && isMounted) return;
  mkdirSync(join(volume, 'lost+found'), { recursive: true });
  execFileSync('chmod', ['-R', 'g+rwX', volume]);
  chmodSync(volume, 0o2775);
}

test.each(['OnRootMismatch', 'Always'])('a second pod uses the journal in a volume only with %s', async (policy) => {
  const [withVolume] = blocksOf('Kubernetes', 'yaml').filter((text) => text.startsWith('securityContext'));
  const { securityContext, containers, volumes } = parse(withVolume ?? '');
  const [{ env, volumeMounts }] = containers;
  expect(volumeMounts[0].name).toBe(volumes[0].name);
  expect(securityContext.fsGroupChangePolicy).toBe('OnRootMismatch');
  const { folder, run, settings } = await withBareMachine();
  const RUNCTL_STATE_DIR = env[0].value.replace(/^\/state/, join(folder, 'state'));
  for (const automation of ['first', 'second']) {
    mountForGroup(join(folder, 'state'), policy);
    await run(['runctl', 'trigger', automation, '--quiet'], { env: { ...settings, RUNCTL_STATE_DIR } });
  }
  mountForGroup(join(folder, 'state'), policy);
  const { stdout } = await run(['runctl', 'list', '--field', 'automationName'], {
    env: { ...settings, RUNCTL_STATE_DIR },
  });
  expect(stdout).toBe(policy === 'OnRootMismatch' ? 'second\nfirst\n' : '');
});

describe('the task of a Slurm array', () => {
  async function withArray(scenario?: Scenario) {
    const machine = await withBareMachine(scenario);
    const { folder, install, run, settings } = machine;
    install('scontrol', `echo "$@" >> '${join(folder, 'requeued')}'`);
    writeFileSync(join(folder, 'automations.txt'), 'north\nsouth\n');
    /** Task 2 of job 7, on a node. */
    const runTask = (node: string, variables: Record<string, string> = {}) =>
      run(['bash', '--norc', '-c', blockOf('Slurm', 'sbatch')], {
        env: {
          ...settings,
          HOME: folder,
          SLURM_ARRAY_JOB_ID: '7',
          SLURM_ARRAY_TASK_ID: '2',
          SLURMD_NODENAME: node,
          ...variables,
        },
      });
    const requeued = () => (existsSync(join(folder, 'requeued')) ? readFileSync(join(folder, 'requeued'), 'utf8') : '');
    return { ...machine, runTask, requeued };
  }

  test('starts one run, also on another node after a requeue', async () => {
    const { emulator, folder, runTask, requeued } = await withArray();
    expect([(await runTask('n1')).code, (await runTask('n2')).code]).toEqual([0, 0]);
    expect(emulator.runs()).toMatchObject([{ target: { automationName: 'south' }, idempotencyKey: 'slurm-7-2' }]);
    expect(requeued()).toBe('');
    expect(['n1', 'n2'].map((node) => existsSync(join(folder, `.local/state/runctl-${node}`)))).toEqual([true, true]);
  });

  test('requeues itself where a repeat can help, but not for ever', async () => {
    const headers = { 'retry-after': '7200' };
    const { runTask, requeued } = await withArray({ faults: [{ on: 'trigger', do: 'status', status: 429, headers }] });
    expect((await runTask('n1')).code).toBe(exitCodeOf('rate_limited'));
    expect((await runTask('n1', { SLURM_RESTART_COUNT: '5' })).code).toBe(exitCodeOf('rate_limited'));
    expect(requeued()).toBe('requeue 7_2\n');
  });

  test('does not requeue itself where no repeat helps', async () => {
    const { runTask, requeued } = await withArray({ automations: { '*': { duration: '1ms', finalStatus: 'FAILED' } } });
    expect((await runTask('n1')).code).toBe(exitCodeOf('run_failed'));
    expect((await runTask('n2', { RUNCTL_API_KEY: 'wrong-key' })).code).toBe(exitCodeOf('unauthorized'));
    expect(requeued()).toBe('');
    const [, codes = ''] = /^ {2}([\d |]+)\) exit/m.exec(blockOf('Slurm', 'sbatch')) ?? [];
    expect(codes.split(' | ').map(Number)).toEqual([0, ...codesNotToRepeat]);
  });
});

test('the task of Ansible starts one run, also on another host, and is tried again only where that can help', async () => {
  const [{ tasks }] = parse(blockOf('Ansible', 'yaml'));
  const task = tasks[0];
  const argv: string[] = task['ansible.builtin.command'].argv;
  const smoke = argv.map((word) => word.replace('{{ release }}', '1.2'));
  expect(await runTwice(smoke)).toEqual({ codes: [0, 0], keys: ['smoke-1.2'] });
  expect(JSON.parse(task.until.replace(/^smoke\.rc in /, ''))).toEqual(
    [0, ...codesNotToRepeat, exitCodeOf('already_active')].toSorted((one, other) => one - other),
  );
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
  const failsFirst: Scenario = { automations: { '*': { duration: '1ms', finalStatus: ['FAILED', 'COMPLETED'] } } };
  expect(await runTwice(argv, failsFirst)).toEqual({ codes: [1, 1], keys: once });
  expect([task.append_env, task.retries]).toEqual([true, 3]);
});
