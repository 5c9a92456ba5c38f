import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../fault-kit/scenario.ts';
import type { FaultyOptions } from '../fault-kit/start.ts';
import { withEmulator } from './emulator.ts';
import { jsonLines } from './json-lines.ts';
import type { LeapingClock } from './leaping-clock.ts';
import { type Ended, type ProgramOptions, runProgram } from './run-program.ts';

type Run = (line: string | readonly string[], options?: ProgramOptions) => Promise<Ended>;

/**
 * A machine beside a service that does what the scenario says, until the test is over. `run` types a command on it, whose
 * waits take no time:
 *
 *     const { run, emulator } = await withMachine({ automations: { '*': { finalStatus: 'FAILED' } } });
 *     const { code, stdout, stderr, documents } = await run('trigger nightly --watch --json');
 *
 * A line is split at its blanks; a list of words isn't. `env` in the options replaces single variables.
 */
export async function withMachine(scenario: Scenario = {}, options: FaultyOptions = {}, ownClock?: LeapingClock) {
  const { emulator, env, clock, endRuns } = await withEmulator(scenario, options, ownClock);
  const runIn =
    (own: Record<string, string>): Run =>
    (line, { env: changes, ...others } = {}) =>
      runProgram(typeof line === 'string' ? line.split(' ') : line, {
        env: { ...own, ...changes },
        clock,
        ...others,
      });
  const stateFolder = env.RUNCTL_STATE_DIR ?? '';
  const configFolder = env.RUNCTL_CONFIG_DIR ?? '';
  return {
    emulator,
    env,
    clock,
    run: runIn(env),
    /** The same on another machine: the journal there knows other runs. */
    elsewhere: runIn({ ...env, RUNCTL_STATE_DIR: `${stateFolder}-elsewhere` }),
    /** Lets so much time pass that every run has finished. */
    endRuns,
    /** The idempotency keys of the triggers that the service was sent, in order. */
    keys: () =>
      emulator.requests.flatMap(({ method, headers }) => (method === 'POST' ? [headers['idempotency-key']] : [])),
    /** The runs that the service started, in order. */
    ids: () => emulator.runs().map(({ executionId }) => executionId),
    journal: join(stateFolder, 'journal.jsonl'),
    /** The records of the journal, the oldest first. */
    records: () => recordsIn(stateFolder),
    configFile: join(configFolder, 'config.json'),
    /** Writes a config file with these profiles. */
    store(profiles: object) {
      mkdirSync(configFolder, { recursive: true });
      writeFileSync(join(configFolder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    },
  };
}

export type Machine = Awaited<ReturnType<typeof withMachine>>;

function recordsIn(folder: string) {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^journal.*\.jsonl$/.test(name)) : [];
  return names.flatMap((name) => jsonLines(readFileSync(join(folder, name), 'utf8')));
}
