import type { ChildProcess } from 'node:child_process';
import type { Scenario } from '../fault-kit/scenario.ts';
import { type FaultyEmulator, startFaultyEmulator } from '../fault-kit/start.ts';
import { environmentIn } from './environment-in.ts';
import { jsonLines } from './json-lines.ts';
import { createRandom } from './random.ts';
import { type ProcessEnded, runProcess } from './run-process.ts';

type Order = NonNullable<Scenario['order']>;

export interface TortureOptions {
  /** What the service looks up first. */
  order: Order;
  triggers: number;
  seed: number;
  /** For the journal. */
  folder: string;
  /** How many processes there are at once. */
  side: number;
  /** What runs the commands that nothing kills. Default: a process each. */
  runUnkilled?(args: string[], options: { env: Record<string, string> }): Promise<Ended>;
}

/** What came of it. Whatever is a list of words is a broken promise, and names it. */
export interface Tally {
  triggers: number;
  killed: number;
  runsStarted: number;
  startedTwice: string[];
  /** Runs that the service knows and the journal does not. */
  unknown: string[];
  /** Triggers that ended by themselves and said what is not so. */
  untrue: string[];
  /** Unresolved triggers after `recover`, while the runs were active: the service that looks for an active run hides ours. */
  openWhileActive: number;
  /** Those of them that `recover` did not report with an exit code 12. */
  unexplained: string[];
  /** Unresolved triggers after `recover` once the runs had finished. */
  openAtLast: number;
}

const faults: Scenario['faults'] = [
  { on: 'trigger', chance: 0.1, do: 'loseAnswer' },
  { on: 'trigger', chance: 0.05, do: 'reset' },
  { on: 'trigger', chance: 0.05, do: 'close', acts: true },
  { on: 'trigger', chance: 0.05, do: 'status', status: 502, acts: true },
  { on: 'trigger', chance: 0.05, do: 'status', status: 503 },
  { on: 'trigger', chance: 0.05, do: 'truncate' },
  { on: 'trigger', chance: 0.05, do: 'html', status: 200, acts: true },
  { on: 'trigger', chance: 0.02, do: 'hang', acts: true },
  { on: 'trigger', chance: 0.02, do: 'hangBody' },
];

/**
 * Triggers the built program many times, several at once on one journal, kills most of it with SIGKILL at random
 * moments, and then lets `recover` settle what is left: while the runs are going, and again when they have ended.
 * Every trigger has an automation of its own, so that more than one run of an automation is a run started twice.
 */
export async function torture(options: TortureOptions): Promise<Tally> {
  const { order, triggers, seed, folder, side, runUnkilled = runProcess } = options;
  const scenario: Scenario = { order, faults, automations: { '*': { duration: '1h' } } };
  // The runs go on until the emulator's clock leaps.
  let leapMs = 0;
  // Called with each request, before its answer is on the wire.
  const arrivals = new Map<string, () => void>();
  const onRequest = (line: string) => arrivals.get(/^trigger (job-\d+):/.exec(line)?.[1] ?? '')?.();
  const nowMs = () => Date.now() + leapMs;
  const emulator = await startFaultyEmulator(scenario, { random: createRandom(seed), nowMs, onRequest });
  const env = { ...environmentIn(folder, emulator), RUNCTL_REQUEST_TIMEOUT: '500ms' };
  const runctl = (args: string[], onStart?: (child: ChildProcess) => void) => runProcess(args, { env, onStart });
  const unkilled = (args: string[]) => runUnkilled(args, { env });
  const ended = new Map<string, ProcessEnded>();
  let killed = 0;

  /** One trigger; some have a key of their own and are sent twice, as by a cron line: one after the other, or at once. */
  async function triggerJob(number: number): Promise<void> {
    const random = createRandom(seed + number);
    const job = `job-${number}`;
    const chance = random();
    const isTwice = chance < 0.4;
    const isAtOnce = chance < 0.2;
    const argv = ['trigger', job, '--give-up-after', '2s', ...(isTwice ? ['--idempotency-key', job] : [])];
    const once = async () => {
      const answer = await runctl(argv, killerOf(job, random));
      if (answer.code === 'SIGKILL') killed += 1;
      // Of two at once, the one that is refused says with right that it has started none.
      else if (answer.code === 0 || !isAtOnce) ended.set(job, answer);
    };
    const first = once();
    if (!isAtOnce) await first;
    if (isTwice) await once();
    await first;
  }

  /** Most are killed: half of these in their first moments, the others when their request has arrived. */
  function killerOf(job: string, random: () => number) {
    const chance = random();
    const afterMs = random();
    return (child: ChildProcess) => {
      const kill = (inMs: number) => setTimeout(() => child.kill('SIGKILL'), inMs);
      if (chance < 0.4) kill(afterMs * 300);
      else if (chance < 0.8) arrivals.set(job, () => kill(Math.max(0, afterMs * 40 - 20)));
    };
  }

  try {
    const numbers = Array.from({ length: triggers }, (_, number) => number).values();
    const worker = async () => {
      for (const number of numbers) await triggerJob(number);
    };
    await Promise.all(Array.from({ length: side }, worker));
    const random = createRandom(seed);
    for (let times = 0; times < 3; times++) {
      await runctl(['recover'], (child) => void setTimeout(() => child.kill('SIGKILL'), random() * 400));
    }
    const going = await settle(unkilled);
    leapMs = 2 * 3_600_000;
    // A trigger that met a conflict is sent again only on request.
    const settled = await settle(unkilled, ['--resend']);
    return {
      triggers,
      killed,
      ...(await compare(emulator, ended, unkilled)),
      openWhileActive: going.open.length,
      unexplained: going.unexplained,
      openAtLast: settled.open.length,
    };
  } finally {
    await emulator.close();
  }
}

type Ended = Pick<ProcessEnded, 'code' | 'stdout'>;
type Runctl = (args: string[]) => Promise<Ended>;

/** `recover`, and the keys that are open after it. */
async function settle(runctl: Runctl, flags: string[] = []): Promise<{ open: string[]; unexplained: string[] }> {
  const { code, stdout } = await runctl(['recover', ...flags, '--json']);
  const recovered: { runctl: { exitCode: number; trigger: { idempotencyKey: string } } }[] = jsonLines(stdout);
  const left = jsonLines((await runctl(['recover', '--dry-run', '--json'])).stdout) as typeof recovered;
  const open = left.map(({ runctl }) => runctl.trigger.idempotencyKey);
  const doubtful = recovered.filter(({ runctl }) => runctl.exitCode === 12);
  const explained = new Set(doubtful.map(({ runctl }) => runctl.trigger.idempotencyKey));
  return { open, unexplained: open.filter((key) => code !== 12 || !explained.has(key)) };
}

/** What the service knows beside what the journal knows and what the processes said. */
async function compare(emulator: FaultyEmulator, ended: ReadonlyMap<string, ProcessEnded>, runctl: Runctl) {
  const runs = emulator.runs();
  const { stdout } = await runctl(['list', '--json', '--limit', '100000']);
  const known = new Set<string>(jsonLines(stdout).map(({ executionId }) => executionId));
  const idsOf = (job: string) =>
    runs.flatMap(({ target, executionId }) =>
      'automationName' in target && target.automationName === job ? executionId : [],
    );
  const jobs = new Set(runs.map(({ target }) => ('automationName' in target ? target.automationName : '')));
  // Of a conflict, 5 is true: this command started no run, and an earlier one that was killed is named.
  const isTrue = (job: string, { code, stdout: said, stderr }: ProcessEnded) =>
    code === 12 ||
    (code === 5 && stderr.includes('runctl recover')) ||
    said ===
      idsOf(job)
        .map((id) => `${id}\n`)
        .join('');
  return {
    runsStarted: runs.length,
    startedTwice: [...jobs].filter((job) => idsOf(job).length > 1),
    unknown: runs.map(({ executionId }) => executionId).filter((id) => !known.has(id)),
    untrue: [...ended].filter(([job, end]) => !isTrue(job, end)).map(([job, end]) => `${job}: ${JSON.stringify(end)}`),
  };
}
