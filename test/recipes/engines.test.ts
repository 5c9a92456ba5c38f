import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { exitCodes, finalCodes } from '../../src/problems/exit-codes.ts';
import { needs } from '../helpers/needs.ts';
import { runProgram } from '../helpers/run-program.ts';
import { type Machine, python, withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';

/** The line of an engine, twice: the second time as a retry on another machine, with the same name of the engine's run. */
async function runTwice(machine: Machine, argv: readonly string[], env: Record<string, string> = {}) {
  const common = { ...machine.settings, ...env };
  const first = await machine.run(argv, { env: common });
  const second = await machine.run(argv, { env: { ...common, RUNCTL_STATE_DIR: join(machine.folder, 'elsewhere') } });
  return { codes: [first.code, second.code], runs: machine.emulator.runs().length };
}

const yamlOf = <Document>(recipe: string) => parse(blockOf(recipe, 'yaml')) as Document;

const once = { codes: [0, 0], runs: 1 };

describe('the job of GitLab CI', () => {
  interface Pipeline {
    nightly: { script: string[]; retry: { exit_codes: number[] } };
  }
  const { nightly } = yamlOf<Pipeline>('GitLab CI');

  test('starts one run, also when it is retried', async () => {
    const machine = await withBareMachine();
    const script = nightly.script.join('\n');
    expect(
      await runTwice(machine, ['bash', '--norc', '-eo', 'pipefail', '-c', script], { CI_PIPELINE_ID: '17' }),
    ).toEqual(once);
  });

  test('is retried only where that can help', () => {
    const codes = nightly.retry.exit_codes;
    expect(codes.filter((code) => finalCodes.includes(code))).toEqual([]);
    // There is a run, and its end or the timeout was seen.
    expect(codes.filter((code) => [13, 124].includes(code))).toEqual([]);
    expect(codes).toEqual(exitCodes.map(({ code }) => code).filter((code) => codes.includes(code)));
  });
});

describe('the step of GitHub Actions', () => {
  interface Workflow {
    jobs: { nightly: { steps: { id?: string; env?: { KEY: string }; run?: string }[] } };
  }

  test('starts one run, also when its job is run again, and hands on its id', async () => {
    const step = yamlOf<Workflow>('GitHub Actions').jobs.nightly.steps.find(({ id }) => id === 'nightly');
    const machine = await withBareMachine();
    const key = step?.env?.KEY.replace(/\$\{\{ github\.(\w+) \}\}/g, (_, name) => `its-${name}`);
    const outputs = join(machine.folder, 'outputs');
    const names = { GITHUB_ACTIONS: 'true', CI: 'true', GITHUB_OUTPUT: outputs, KEY: key ?? '' };
    expect(await runTwice(machine, ['bash', '--norc', '-e', '-c', step?.run ?? ''], names)).toEqual(once);
    const [run] = machine.emulator.runs();
    expect(readFileSync(outputs, 'utf8')).toBe(`execution-id=${run?.executionId}\n`.repeat(2));
    expect(run?.idempotencyKey).toMatch(/^gh-its-run_id-its-job-.*nightly$/);
  });
});

describe('the CronJob of Kubernetes', () => {
  interface CronJob {
    spec: {
      jobTemplate: {
        spec: {
          podFailurePolicy: { rules: { action: string; onExitCodes?: { values: number[] } }[] };
          template: { spec: { restartPolicy: string; containers: { command: string[] }[] } };
        };
      };
    };
  }
  const job = yamlOf<CronJob>('Kubernetes').spec.jobTemplate.spec;

  test('starts one run, also from a second pod', async () => {
    const machine = await withBareMachine();
    const command = job.template.spec.containers[0]?.command.map((word) => word.replace('$(JOB)', 'nightly-29388120'));
    expect(await runTwice(machine, command ?? [])).toEqual(once);
  });

  test('gives up only where trying again cannot help', () => {
    expect(job.podFailurePolicy.rules.map(({ action, onExitCodes }) => [action, onExitCodes?.values])).toEqual([
      ['Ignore', undefined],
      ['FailJob', finalCodes],
    ]);
    expect(job.template.spec.restartPolicy).toBe('Never'); // what a podFailurePolicy needs
  });
});

describe('the array of Slurm', () => {
  const names = { SLURM_ARRAY_JOB_ID: '17', SLURM_ARRAY_TASK_ID: '3' };

  test('starts one run, also when a task comes back on another node', async () => {
    const machine = await withBareMachine();
    const argv = ['sh', '-c', blockOf('Slurm', 'sh')];
    expect(await runTwice(machine, argv, names)).toEqual(once);
    const ofNextTask = { ...machine.settings, ...names, SLURM_ARRAY_TASK_ID: '4' };
    expect(await machine.run(argv, { env: ofNextTask })).toMatchObject({ code: 0 });
    expect(machine.emulator.runs()).toHaveLength(2);
  });

  test('requeues a task only where that can help', () => {
    const recipes = readFileSync(join(import.meta.dirname, '../../docs/recipes.md'), 'utf8');
    const [, listed = ''] = /`RequeueExit=([\d,]+)`/.exec(recipes) ?? [];
    const codes = listed.split(',').map(Number);
    expect(codes.filter((code) => finalCodes.includes(code))).toEqual([]);
    expect(codes).toEqual(exitCodes.map(({ code }) => code).filter((code) => codes.includes(code)));
  });
});

describe('the task of Airflow', () => {
  beforeEach((context) => needs(context, 'python3'));

  interface Task {
    bash_command: string;
    env: Record<string, string>;
    skip_on_exit_code: number[];
    retries: number;
  }

  let task: Task | undefined;
  const readTask = () => {
    task ??= handedOver();
    return task;
  };

  /** What it hands to the operator, by an Airflow that knows only these two names. */
  function handedOver(): Task {
    const stub = `
import json, sys, types
class DAG:
    def __init__(self, *args, **named): pass
    def __enter__(self): return self
    def __exit__(self, *error): pass
def BashOperator(**named): print(json.dumps(named, default=str))
for path in ["airflow", "airflow.sdk", "airflow.providers", "airflow.providers.standard",
             "airflow.providers.standard.operators", "airflow.providers.standard.operators.bash"]:
    sys.modules[path] = types.ModuleType(path)
    sys.modules[path].__dict__.update(DAG=DAG, BashOperator=BashOperator)
exec(compile(sys.stdin.read(), "nightly.py", "exec"))`;
    return JSON.parse(execFileSync(python, ['-c', stub], { input: blockOf('Airflow', 'python'), encoding: 'utf8' }));
  }

  /** The command of one try. */
  function commandOf({ bash_command }: Task, tryNumber: number): string {
    return bash_command
      .replace('{{ run_id }}', 'scheduled__2026-11-21T02:00:00+00:00')
      .replace("{{ 'fail' if ti.try_number == 1 else 'wait' }}", tryNumber === 1 ? 'fail' : 'wait');
  }

  test('is not retried after a run that failed, nor after a lost answer', () => expect(readTask().retries).toBe(0));

  test('starts one run, also when it is cleared', async () => {
    const { emulator, keyFile, run } = await withBareMachine();
    const task = readTask();
    const env = { ...task.env, RUNCTL_BASE_URL: emulator.url, RUNCTL_API_KEY_FILE: keyFile };
    const tries = [1, 2].map((tryNumber) => run(['bash', '--norc', '-c', commandOf(task, tryNumber)], { env }));
    expect((await Promise.all(tries)).map(({ code }) => code)).toEqual([0, 0]);
    expect(emulator.runs()).toHaveLength(1);
  });

  test('reports the run again when it is cleared after that failed', async () => {
    const scenario: Scenario = { automations: { '*': { duration: '1ms', outcome: 'FAILED' } } };
    const { emulator, run, settings } = await withBareMachine(scenario);
    const task = readTask();
    const codes: (number | string)[] = [];
    for (const tryNumber of [1, 2]) {
      codes.push((await run(['bash', '--norc', '-c', commandOf(task, tryNumber)], { env: settings })).code);
    }
    expect(codes).toEqual([1, 1]);
    expect(emulator.runs()).toHaveLength(1);
  });

  test("is skipped where somebody else's run is active", async () => {
    const { env, run, settings } = await withBareMachine({ automations: { nightly: { duration: '1m' } } });
    await runProgram(['trigger', 'nightly'], { env: { ...env, ...settings } });
    const task = readTask();
    const { code } = await run(['bash', '--norc', '-c', commandOf(task, 1)], { env: settings });
    expect(task.skip_on_exit_code).toEqual([code]);
  });
});
