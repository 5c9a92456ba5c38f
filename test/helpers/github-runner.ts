// What a runner of GitHub Actions does with a composite action: expressions, bash, and the files in which steps answer.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { runCommand } from './run-process.ts';

interface Action {
  inputs: Record<string, { default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { steps: { id: string; env: Record<string, string>; run: string; shell: string }[] };
}

export interface Job {
  inputs: Record<string, string>;
  /** The environment of the workflow and of the machine. */
  env: Record<string, string | undefined>;
  /** What the expressions find under `github`; as variables the steps get the same. */
  github: Record<string, string>;
  jobIndex?: number;
  temp: string;
  /** Ids of steps that another job has done for this one. */
  done?: readonly string[];
}

/** Runs the action of a folder as one step of a job, and returns how it ended. */
export async function runAction(folder: string, { inputs, env, github, jobIndex = 0, temp, done = [] }: Job) {
  const action: Action = parse(readFileSync(join(folder, 'action.yml'), 'utf8'));
  const contexts: Record<string, Record<string, string | undefined>> = {
    github,
    env,
    strategy: { 'job-index': String(jobIndex) },
    inputs: {},
  };
  for (const [name, input] of Object.entries(action.inputs))
    contexts.inputs = { ...contexts.inputs, [name]: inputs[name] ?? evaluate(input.default ?? '', contexts) };
  const variables = Object.fromEntries(
    Object.entries(github).map(([name, value]) => [`GITHUB_${name.toUpperCase()}`, value]),
  );
  const outputs: Record<string, Record<string, string>> = {};
  const log: string[] = [];
  let path = env.PATH ?? '';
  let code: number | string = 0;
  for (const step of action.runs.steps.filter(({ id }) => !done.includes(id))) {
    const at = join(temp, `of-${step.id}`);
    mkdirSync(at, { recursive: true });
    const files = Object.fromEntries(
      ['OUTPUT', 'PATH', 'STEP_SUMMARY'].map((name) => [`GITHUB_${name}`, join(at, name)]),
    );
    for (const file of Object.values(files)) writeFileSync(file, '');
    writeFileSync(join(at, 'script.sh'), step.run);
    const ofStep = Object.entries(step.env).map(([name, value]) => [name, evaluate(value, contexts)]);
    const ended = await runCommand(['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail', join(at, 'script.sh')], {
      env: {
        ...env,
        ...variables,
        ...files,
        CI: 'true',
        GITHUB_ACTIONS: 'true',
        GITHUB_ACTION_PATH: folder,
        RUNNER_TEMP: temp,
        ...Object.fromEntries(ofStep),
        PATH: path,
      },
      cwd: temp,
    });
    log.push(ended.stdout, ended.stderr);
    outputs[step.id] = Object.fromEntries(linesOf(files.GITHUB_OUTPUT).map((line) => line.split(/=(.*)/).slice(0, 2)));
    path = [...linesOf(files.GITHUB_PATH).reverse(), path].join(':');
    code = ended.code;
    if (code !== 0) break;
  }
  const ofAction = Object.entries(action.outputs).map(([name, { value }]) => {
    const [, step = '', output = ''] = /steps\.([\w-]+)\.outputs\.([\w-]+)/.exec(value) ?? [];
    return [name, outputs[step]?.[output] ?? ''];
  });
  return { code, log: log.join(''), outputs: Object.fromEntries(ofAction) as Record<string, string> };
}

const linesOf = (file = '') => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);

/** The expressions that the action uses: a value of a context, or the first of several that is not empty. */
function evaluate(text: string, contexts: Record<string, Record<string, string | undefined>>): string {
  return text.replace(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => {
    const values = expression.split(' || ').map((term) => {
      const [, context = '', name = ''] = /^(\w+)\.([\w-]+)$/.exec(term) ?? [];
      if (!contexts[context]) throw new Error(`no such context in this place: ${term}`);
      return contexts[context][name];
    });
    return values.find(Boolean) ?? '';
  });
}
