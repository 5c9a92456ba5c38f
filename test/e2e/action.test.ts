// The GitHub Action, as a runner runs it. Some titles are what users complain of in other actions that trigger and wait.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../package.json';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { nameOf, type Target } from '../../src/runs/run.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { listen } from '../helpers/faulty-server.ts';
import { runAction } from '../helpers/github-runner.ts';
import { installProgram } from '../helpers/install-program.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const action = join(root, '.github/actions/runctl');
const packed = mkdtempSync(join(tmpdir(), 'runctl-action-'));
const tarball = join(packed, `runctl-${version}.tgz`);

// What `npm pack` makes, in a fraction of its time.
beforeAll(() => void execFileSync('tar', ['-czf', tarball, '-C', root, 'package']));
afterAll(() => rmSync(packed, { recursive: true, force: true }));

interface StepOptions {
  inputs?: Record<string, string>;
  github?: Record<string, string>;
  jobIndex?: number;
  /** Has the step install the program, which the others find installed. */
  installs?: boolean;
}

/** A repository with a service: each call is one step of one job on a machine of its own, as hosted runners are. */
async function repository(scenario: Scenario = {}) {
  const clock = createLeapingClock();
  const { emulator, env } = await withEmulator(
    { automations: { '*': { duration: '1ms' } }, ...scenario },
    { nowMs: clock.nowMs },
  );
  const { RUNCTL_BASE_URL: baseUrl = '', RUNCTL_API_KEY: apiKey = '', RUNCTL_PROJECT: project = '' } = env;
  const bin = temporaryFolder();
  onTestFinished(await installProgram(bin, { baseUrl, clock }));
  const step = ({ inputs, github, jobIndex, installs = false }: StepOptions = {}) => {
    const temp = temporaryFolder();
    return runAction(action, {
      inputs: { automation: 'nightly', package: tarball, 'base-url': baseUrl, 'api-key': apiKey, project, ...inputs },
      env: { PATH: installs ? process.env.PATH : `${bin}:${process.env.PATH}`, HOME: temp },
      github: {
        repository: 'owner/repository',
        run_id: '4711',
        run_attempt: '1',
        job: 'nightly',
        action: '__owner_repository',
        server_url: 'https://github.test',
        action_repository: 'owner/repository',
        ...github,
      },
      jobIndex,
      temp,
      done: installs ? [] : ['install'],
    });
  };
  return { emulator, step };
}

const namesOf = (runs: { target: Target }[]) => runs.map(({ target }) => nameOf(target));
const attempt = (run_attempt: string) => ({ github: { run_attempt } });
const failing = { duration: '1ms', outcome: 'FAILED' } as const;

describe('the step', () => {
  test('waits for the run, and not only for its start', async () => {
    const { emulator, step } = await repository({ automations: { '*': { duration: '300ms' } } });
    const { code, outputs } = await step();
    const [run] = emulator.runs();
    expect(outputs).toEqual({
      'execution-id': run?.executionId,
      status: 'COMPLETED',
      outcome: 'ok',
      // Another attempt may have started it under the same key: only the service knows.
      started: 'unknown',
      'exit-code': '0',
    });
    expect([code, emulator.runs().length]).toEqual([0, 1]);
  });

  test('fails if the run fails, with the reason as an annotation, and its outputs are there all the same', async () => {
    const { step } = await repository({ automations: { '*': failing } });
    const { code, outputs, log } = await step();
    expect([code, outputs['exit-code'], outputs.outcome, outputs.status]).toEqual([1, '1', 'run_failed', 'FAILED']);
    expect(outputs['execution-id']).toMatch(/^[\da-f-]{36}$/);
    expect(log).toMatch(/^::error title=nightly FAILED::/m);
  });

  test('fails when its own timeout passes, and says so: that is no success', async () => {
    const { step } = await repository({ automations: { '*': { duration: '1h' } } });
    const { code, outputs } = await step({ inputs: { timeout: '1s' } });
    expect([code, outputs.outcome]).toEqual([124, 'timeout']);
  });

  test('goes on when the service answers 502 for a moment', async () => {
    const { emulator, step } = await repository({ faults: [{ on: 'status', nth: 1, do: 'status', status: 502 }] });
    expect((await step()).code).toBe(0);
    expect(emulator.runs()).toHaveLength(1);
  });

  test('is refused without an API key, and says so in its outputs', async () => {
    const { emulator, step } = await repository();
    const { code, outputs } = await step({ inputs: { 'api-key': '' } });
    expect([code, outputs['exit-code'], outputs.outcome]).toEqual([2, '2', 'usage']);
    expect(emulator.requests).toEqual([]);
  });

  test('triggers several automations, one a line, and waits for all', async () => {
    const { emulator, step } = await repository({ automations: { b: failing, '*': { duration: '1ms' } } });
    const { code, outputs } = await step({ inputs: { automation: '  a\n\n  b\n' } });
    expect([code, outputs.outcome]).toEqual([1, 'ok']);
    expect(namesOf(emulator.runs())).toEqual(['a', 'b']);
  });

  test('starts none with `if-active: skip` if the automation is already running', async () => {
    const { emulator, step } = await repository({ automations: { '*': { duration: '1h' } } });
    await step({ inputs: { timeout: '1s' } });
    const { code, outputs } = await step({ inputs: { 'if-active': 'skip' }, github: { job: 'another' } });
    expect([code, outputs.started]).toEqual([0, 'no']);
    expect(emulator.runs()).toHaveLength(1);
  });

  test('starts a new run after a failure that `rerun-on` names, `max-reruns` times', async () => {
    const { emulator, step } = await repository({
      automations: { '*': { duration: '1ms', outcome: ['FAILED', 'FAILED', 'COMPLETED'] } },
    });
    expect((await step({ inputs: { 'rerun-on': 'any', 'max-reruns': '2' } })).code).toBe(0);
    expect(emulator.runs()).toHaveLength(3);
  });

  test('starts one new run if `rerun-on` alone is given, and none after a failure that it does not name', async () => {
    const { emulator, step } = await repository({ automations: { '*': failing } });
    expect((await step({ inputs: { 'rerun-on': 'timed_out' } })).code).toBe(1);
    expect(emulator.runs()).toHaveLength(1);
    expect((await step({ inputs: { 'rerun-on': 'any' }, github: { run_id: '4712' } })).code).toBe(1);
    expect(emulator.runs()).toHaveLength(3);
  });

  test.each(['1', '2'])('refuses a `max-reruns` that is no number, also in attempt %s', async (run_attempt) => {
    const { emulator, step } = await repository();
    const inputs = { 'rerun-on': 'any', 'max-reruns': 'a[$(touch made)]' };
    const { code, outputs } = await step({ inputs, github: { run_attempt } });
    expect([code, outputs.outcome]).toEqual([2, 'usage']);
    expect(emulator.requests).toEqual([]);
  });

  test('takes what looks like a flag for no flag, and for the name of an automation if its project is given', async () => {
    const { emulator, step } = await repository();
    const { code, outputs } = await step({ inputs: { automation: '--help' } });
    expect([code, outputs.outcome, emulator.requests]).toEqual([2, 'usage', []]);
    expect((await step({ inputs: { automation: `${emulator.projectId}/--help` } })).code).toBe(0);
    expect(namesOf(emulator.runs())).toEqual(['--help']);
  });
});

describe('two of them do not take one run for the other', () => {
  test('jobs, jobs of a matrix, steps of a job, and runs of the workflow', async () => {
    const { emulator, step } = await repository();
    const others: StepOptions[] = [
      { github: { job: 'another' } },
      { jobIndex: 1 },
      { github: { action: '__owner_repository_2' } },
      { github: { run_id: '4712' } },
    ];
    const ids: (string | undefined)[] = [];
    for (const options of [{}, ...others]) ids.push((await step(options)).outputs['execution-id']);
    expect(ids).toEqual(emulator.runs().map((run) => run.executionId));
    expect(ids).toHaveLength(1 + others.length);
  });

  test('jobs at the same time', async () => {
    const { emulator, step } = await repository({ automations: { '*': { duration: '500ms' } } });
    const jobs = ['a', 'b'].map((automation) => step({ inputs: { automation }, github: { job: automation } }));
    const ids = (await Promise.all(jobs)).map(({ outputs }) => outputs['execution-id']);
    const startedFor = (name: string) => emulator.runs().find(({ target }) => nameOf(target) === name)?.executionId;
    expect(ids).toEqual([startedFor('a'), startedFor('b')]);
  });
});

describe('a re-run', () => {
  test('of failed jobs, after the answer to the trigger was lost, finds the run', async () => {
    const { emulator, step } = await repository({ faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] });
    // The first machine is gone while it asks again.
    const first = await step({ inputs: { timeout: '1ms' } });
    expect([first.code, first.outputs.outcome]).toEqual([12, 'outcome_unknown']);
    const second = await step(attempt('2'));
    expect([second.code, second.outputs.status]).toEqual([0, 'COMPLETED']);
    expect(emulator.runs().map(({ executionId }) => executionId)).toEqual([second.outputs['execution-id']]);
  });

  test('of failed jobs, after the run failed, starts the next', async () => {
    const { emulator, step } = await repository({
      automations: { '*': { duration: '1ms', outcome: ['FAILED', 'FAILED', 'COMPLETED'] } },
    });
    expect((await step()).code).toBe(1);
    expect(emulator.runs()).toHaveLength(1);
    expect((await step(attempt('2'))).code).toBe(1);
    expect(emulator.runs()).toHaveLength(2);
    const third = await step(attempt('3'));
    expect([third.code, third.outputs['execution-id']]).toEqual([0, emulator.runs().at(-1)?.executionId]);
    expect(emulator.runs()).toHaveLength(3);
  });

  test.each([
    // The re-run starts the one run that it was asked for, and may use the reruns that are left.
    ['timed_out', '2', 1],
    ['any', '2', 3],
  ])('with `rerun-on: %s` has one more run than `max-reruns: %s` allows', async (rerunOn, maxReruns, first) => {
    const { emulator, step } = await repository({ automations: { '*': failing } });
    const inputs = { 'rerun-on': rerunOn, 'max-reruns': maxReruns };
    await step({ inputs });
    expect(emulator.runs()).toHaveLength(first);
    await step({ inputs, ...attempt('2') });
    expect(emulator.runs()).toHaveLength(4);
    await step({ inputs, ...attempt('3') });
    expect(emulator.runs()).toHaveLength(5);
  });

  test('of all jobs, after the run completed, starts no second run', async () => {
    const { emulator, step } = await repository();
    const first = await step();
    const { code, outputs } = await step(attempt('2'));
    expect([code, outputs['execution-id']]).toEqual([0, first.outputs['execution-id']]);
    expect(emulator.runs()).toHaveLength(1);
  });
});

describe('runctl is installed', () => {
  /** A server with a release, whose package may have been changed. */
  async function release(bytes: Buffer) {
    const name = `/owner/repository/releases/download/v${version}/runctl-${version}.tgz`;
    const sum = createHash('sha256').update(readFileSync(tarball)).digest('hex');
    const files: Record<string, string | Buffer> = {
      [name]: bytes,
      [`${name}.sha256`]: `${sum}  runctl-${version}.tgz\n`,
    };
    const server = createServer(({ url = '' }, response) => {
      response.writeHead(files[url] ? 200 : 404).end(files[url]);
    });
    return { server_url: `http://127.0.0.1:${await listen(server)}` };
  }

  test('from the release, without a word', async () => {
    const { step } = await repository();
    const { code, log } = await step({
      installs: true,
      inputs: { package: '' },
      github: await release(readFileSync(tarball)),
    });
    expect(code).toBe(0);
    expect(log).not.toMatch(/npm|warn/i);
  });

  test('only with the checksum of the release', async () => {
    const { emulator, step } = await repository();
    const changed = Buffer.concat([readFileSync(tarball), Buffer.alloc(1)]);
    const { code } = await step({ installs: true, inputs: { package: '' }, github: await release(changed) });
    expect(code).toBe(1);
    expect(emulator.requests).toEqual([]);
  });
});

test('its recipe names every input and output, and this version', () => {
  const page = readFileSync(join(root, 'docs/recipes.md'), 'utf8');
  const recipe = page.slice(page.indexOf('### GitHub Actions'), page.indexOf('### GitLab'));
  const { inputs, outputs } = parse(readFileSync(join(action, 'action.yml'), 'utf8'));
  const names = [...Object.keys(inputs), ...Object.keys(outputs)];
  expect(names.filter((name) => !new RegExp(`\`${name}\`|^ +${name}: `, 'm').test(recipe))).toEqual([]);
  expect(page).toContain(`/.github/actions/runctl@v${version}\n`);
});

test('the API key and what users type reach a script by its environment alone', () => {
  const { runs }: { runs: { steps: { run: string }[] } } = parse(readFileSync(join(action, 'action.yml'), 'utf8'));
  expect(runs.steps.filter(({ run }) => run.includes('${' + '{'))).toEqual([]);
});
