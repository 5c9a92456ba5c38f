import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Scenario } from '../fault-kit/scenario.ts';
import { needs } from '../helpers/needs.ts';
import { type Machine, python, withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';
import { codesNotToRepeat } from './codes-not-to-repeat.ts';

/** The line of an engine, twice: the second time as a retry on another machine, with the same name of the engine's run. */
async function runTwice(machine: Machine, argv: readonly string[], env: Record<string, string> = {}) {
  const common = { ...machine.settings, ...env };
  const first = await machine.run(argv, { env: common });
  const second = await machine.run(argv, { env: { ...common, RUNCTL_STATE_DIR: join(machine.folder, 'elsewhere') } });
  return { codes: [first.code, second.code], runs: machine.emulator.runs().length };
}

const yamlOf = <Document>(recipe: string) => parse(blockOf(recipe, 'yaml')) as Document;

const once = { codes: [0, 0], runs: 1 };

describe('the step of GitHub Actions', () => {
  interface Job {
    steps: { id?: string; env?: { KEY: string }; run?: string }[];
  }

  test('starts one run, also when its job is run again, and hands on its id', async () => {
    const step = yamlOf<Job>('GitHub Actions').steps.find(({ id }) => id === 'nightly');
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
          template: { spec: { restartPolicy: string; containers: { args: string[] }[] } };
        };
      };
    };
  }
  const job = yamlOf<CronJob>('Kubernetes').spec.jobTemplate.spec;

  test('starts one run, also from a second pod', async () => {
    const machine = await withBareMachine();
    const args = job.template.spec.containers[0]?.args.map((word) => word.replace('$(JOB)', 'nightly-29388120')) ?? [];
    expect(await runTwice(machine, ['runctl', ...args])).toEqual(once);
  });

  test('gives up only where trying again cannot help', () => {
    expect(job.podFailurePolicy.rules.map(({ action, onExitCodes }) => [action, onExitCodes?.values])).toEqual([
      ['Ignore', undefined],
      ['FailJob', codesNotToRepeat],
    ]);
    expect(job.template.spec.restartPolicy).toBe('Never'); // what a podFailurePolicy needs
  });
});

describe('the task of Airflow', () => {
  beforeEach((context) => needs(context, 'python3'));

  interface Task {
    bash_command: string;
    env: Record<string, string>;
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

  const commandOf = ({ bash_command }: Task) =>
    bash_command.replace('{{ run_id }}', 'scheduled__2026-11-21T02:00:00+00:00');

  test('starts one run, also when it is retried elsewhere', async () => {
    const { emulator, keyFile, run, settings, folder } = await withBareMachine();
    const task = readTask();
    const own = { RUNCTL_BASE_URL: emulator.url, RUNCTL_API_KEY_FILE: keyFile };
    const env = { RUNCTL_PROJECT: settings.RUNCTL_PROJECT, ...task.env, ...own };
    const elsewhere = { ...env, RUNCTL_STATE_DIR: join(folder, 'elsewhere') };
    const tries = [env, env, elsewhere].map((each) => run(['bash', '--norc', '-c', commandOf(task)], { env: each }));
    expect((await Promise.all(tries)).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(emulator.runs()).toHaveLength(1);
  });

  test('reports a run that failed again when it is retried, and starts no other', async () => {
    const scenario: Scenario = { automations: { '*': { duration: '1ms', outcome: ['FAILED', 'COMPLETED'] } } };
    const { emulator, run, settings } = await withBareMachine(scenario);
    const task = readTask();
    for (const _ of Array(1 + task.retries)) {
      expect(await run(['bash', '--norc', '-c', commandOf(task)], { env: settings })).toMatchObject({ code: 1 });
    }
    expect(emulator.runs()).toHaveLength(1);
  });
});
