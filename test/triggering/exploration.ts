import { startRun } from '../../src/actions/if-active.ts';
import { planOf } from '../../src/actions/plan.ts';
import { type Recovery, recoverTriggers } from '../../src/actions/recover-triggers.ts';
import type { StartOutcome } from '../../src/actions/start-outcome.ts';
import { openJournal } from '../../src/journal/journal.ts';
import type { Log } from '../../src/journal/log.ts';
import type { JournalRecord, NewRecord } from '../../src/journal/records.ts';
import type { Answer, Service, StartedExecution } from '../../src/run/service.ts';
import { starts } from '../../src/triggering/start-evidence.ts';
import { createWatchGroup } from '../../src/watching/watch-group.ts';
import { baseUrl, createConnection } from '../helpers/connection.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { fault, state, target } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

/** Chooses one of several things that may happen. The first is what happens if all is well. */
export type Choose = <T>(options: readonly T[]) => T;

/** Goes through every history in which at most so many choices are not the first. Returns how many there were. */
export async function exploreAll(deviations: number, history: (choose: Choose) => Promise<void>): Promise<number> {
  let count = 0;
  for (let path: number[] | undefined = []; path; count++) {
    const taken: { index: number; of: number }[] = [];
    const prefix: number[] = path;
    await history((options) => {
      const index = prefix[taken.length] ?? 0;
      taken.push({ index, of: options.length });
      return options[index] as (typeof options)[number];
    });
    path = nextPath(taken, deviations);
  }
  return count;
}

/** The next history in the order of a tree: the last choice that can still be another one is. */
function nextPath(taken: readonly { index: number; of: number }[], deviations: number): number[] | undefined {
  for (let at = taken.length - 1; at >= 0; at--) {
    const before = taken.slice(0, at).map(({ index }) => index);
    const { index = 0, of = 0 } = taken[at] ?? {};
    const used = before.filter((each) => each > 0).length;
    if (index + 1 < of && used < deviations) return [...before, index + 1];
  }
  return undefined;
}

export interface World {
  /** What the service does with an idempotency key that it has seen: `forgets` does so between two commands. */
  keys: 'honors' | 'ignores' | 'forgets';
  order: 'keyFirst' | 'activeFirst';
  namesActiveRun: boolean;
  /** The setting says that it ignores them. */
  ignoresKeys: boolean;
}

export const triggerNames = [
  'trigger',
  'trigger with a key',
  'trigger that waits',
  'trigger with a key that waits',
] as const;
export const commandNames = [...triggerNames, 'recover', 'recover --resend'] as const;
export type CommandName = (typeof commandNames)[number];

interface TrueRun {
  executionId: string;
  key?: string;
  startedBy?: number; // the command
  isFinished: boolean;
}

/** What is wrong with a history, as a sentence; each begins with the rule that was broken. */
export type Verdict = string;

/** Plays commands on one machine, one after the other, against a service on whose way everything may go wrong. */
export async function play(world: World, commands: readonly CommandName[], choose: Choose): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const runs: TrueRun[] = [];
  const clock = createVirtualClock();
  let late: (() => void)[] = [];
  let command = 0;
  let minted = 0;
  let isWell = false;
  let isResent = false; // somebody typed `--resend`
  const keysInDoubt = new Set<string>();
  const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const active = () => runs.find(({ isFinished }) => !isFinished);

  function begin(key?: string, startedBy?: number): TrueRun {
    const run = { executionId: idOf(runs.length + 1), key, startedBy, isFinished: false };
    runs.push(run);
    return run;
  }

  /** The service handles a trigger. */
  function handle(key: string, by: number): Answer<StartedExecution> {
    const isKnown = (run: TrueRun) => run.key === key && (world.keys === 'honors' || run.startedBy === by);
    const known = world.keys === 'ignores' ? undefined : runs.find(isKnown);
    const running = active();
    if (running && !(known && world.order === 'keyFirst')) {
      const executionId = world.namesActiveRun ? running.executionId : undefined;
      return fault('already_active', { httpStatus: 422, executionId });
    }
    const run = known ?? begin(key, by);
    return state(run.isFinished ? 'COMPLETED' : 'RUNNING', { executionId: run.executionId });
  }

  const ways = ['answered', 'lost', 'acted and lost', 'acts late', 'refused'] as const;

  async function trigger(key: string): Promise<Answer<StartedExecution>> {
    const by = command;
    const events = active() ? (['nothing', 'ends'] as const) : (['nothing', 'another starts'] as const);
    const event = isWell ? 'nothing' : choose<'nothing' | 'ends' | 'another starts'>(events);
    const running = active();
    if (event === 'ends' && running) running.isFinished = true;
    if (event === 'another starts') begin();
    const way = isWell ? 'answered' : choose(ways);
    if (world.ignoresKeys && keysInDoubt.has(key) && !isResent)
      verdicts.push(`nothing in doubt is repeated if keys are ignored: ${key} was`);
    if (way !== 'answered' && way !== 'refused') keysInDoubt.add(key);
    const acting = late;
    late = [];
    try {
      if (way === 'answered') return handle(key, by);
      if (way === 'refused') return fault('no_credits', { httpStatus: 402 });
      if (way === 'acted and lost') handle(key, by);
      if (way === 'acts late') late.push(() => void handle(key, by));
      return fault('lost');
    } finally {
      // What waited in a gateway acts after the request that came behind it.
      for (const act of acting) act();
    }
  }

  const service: Service = {
    trigger: ({ idempotencyKey }) => trigger(idempotencyKey),
    async status({ executionId }) {
      const run = runs.find((each) => each.executionId === executionId);
      // Whoever waits for a run sees its end.
      if (run) run.isFinished = true;
      return run ? state(run.isFinished ? 'COMPLETED' : 'RUNNING', { executionId }) : fault('not_found');
    },
    result: async () => fault('not_found'),
  };

  const log = createMemoryLog(clock.nowMs);
  const connect = () => {
    const context = { ...createMemory(), clock, random: () => 1 };
    const journal = openJournal({ folder: undefined, nowMs: clock.nowMs, onTrouble() {} }, log);
    const { ignoresKeys } = world;
    return createConnection(service, { context, journal, ignoresKeys, watches: createWatchGroup(60_000, clock) });
  };

  const reported = new Set<string>(); // ids of runs and times of triggers that were printed
  const startedKeys = new Map<string, { isGiven: boolean; at: string }>();

  async function startOne(name: CommandName): Promise<void> {
    const isGiven = name.includes('key');
    isResent = false;
    const idempotencyKey = isGiven ? 'given' : undefined;
    const flags = { giveUpAfter: 501, ifActive: name.includes('waits') ? 'wait' : 'fail' } as const;
    const start = await startRun({ target, body: '{}', idempotencyKey }, planOf(flags), connect());
    startedKeys.set(start.start.idempotencyKey ?? `key-${++minted}`, {
      isGiven,
      at: new Date(clock.nowMs()).toISOString(),
    });
    starteds.push({ by: command, start });
  }

  const starteds: { by: number; start: StartOutcome }[] = [];

  async function recover(resend: boolean): Promise<boolean> {
    const connection = connect();
    let isResolved = true;
    isResent = resend;
    for await (const recovery of recoverTriggers({ resend, giveUpAfter: 501 }, connection)) {
      recoveries.push({ by: command, recovery });
      if (recovery.kind === 'superseded') reported.add(recovery.trigger.idempotencyKey);
      if (recovery.kind === 'found') reported.add(recovery.execution.executionId);
      if (!['found', 'refused', 'superseded'].includes(recovery.kind)) isResolved = false;
    }
    return isResolved && connect().journal.unresolvedTriggers({ baseUrl }).length === 0;
  }

  const recoveries: { by: number; recovery: Recovery }[] = [];
  const complete: number[] = []; // the commands `recover` that ended with 0

  for (const name of commands) {
    command += 1;
    if (name.startsWith('trigger')) await startOne(name);
    else if (await recover(name === 'recover --resend')) complete.push(command);
    await clock.sleep(1_000);
  }
  // In the end, what is still under way acts, everything is well, and a careful user follows the advice.
  for (const act of late) act();
  late = [];
  isWell = true;
  let steps = 0;
  for (; steps < 6 && connect().journal.unresolvedTriggers({ baseUrl }).length > 0; steps++) {
    command += 1;
    const running = active();
    if (running) running.isFinished = true;
    await recover(true);
  }
  if (steps === 6) verdicts.push('a trigger in doubt ends: it is still unresolved after six times `recover --resend`');
  judge();
  return verdicts;

  function judge(): void {
    const ofKey = new Map<string, TrueRun[]>();
    for (const run of runs) if (run.key) ofKey.set(run.key, [...(ofKey.get(run.key) ?? []), run]);
    if (world.keys === 'honors')
      for (const [key, its] of ofKey) if (its.length > 1) verdicts.push(`one run for a key: ${key} has ${its.length}`);
    for (const { by, start } of starteds) {
      const own = runs.filter(({ startedBy }) => startedBy === by).map(({ executionId }) => executionId);
      const {
        run,
        start: { how, started },
      } = start;
      const isOwn = run !== undefined && own.includes(run.executionId);
      if (started === 'yes' && !isOwn) verdicts.push(`yes is true: ${run?.executionId} is not its own`);
      if (started === 'no' && own.length > 0) verdicts.push(`no is true: ${how}, but ${own} was started`);
    }
    const known = new Set([...connect().journal.runs({ baseUrl })].map(({ executionId }) => executionId));
    for (const { by, recovery } of recoveries) {
      const key = recovery.trigger.idempotencyKey;
      const its = ofKey.get(key) ?? [];
      if (recovery.kind === 'refused' && its.some(({ startedBy = 0 }) => startedBy <= by))
        verdicts.push(`a refused trigger started nothing: ${key} started ${its.length}`);
      if (recovery.kind !== 'found') continue;
      const { execution, evidence } = recovery;
      const found = its.find(({ executionId }) => executionId === execution.executionId);
      if (!found) verdicts.push(`a run is found by its key: ${execution.executionId} is not of ${key}`);
      if (starts[evidence].started === 'no' && found?.startedBy === by)
        verdicts.push(`no is true: recover says that it did not start ${execution.executionId}`);
    }
    if (world.keys !== 'honors') return;
    for (const { executionId, key = '' } of runs) {
      const isOurs = startedKeys.has(key);
      if (isOurs && !known.has(executionId) && !reported.has(executionId) && !reported.has(key))
        verdicts.push(`no run is lost: ${executionId} of ${key} is in no list and was not named`);
    }
  }
}

/** A journal of one machine, in memory. */
function createMemoryLog(nowMs: () => number): Log {
  const records: JournalRecord[] = [];
  return {
    append(record: NewRecord) {
      const stored = { ...record, schema: 1, at: new Date(nowMs()).toISOString() } as JournalRecord;
      records.push(stored);
      return stored;
    },
    *read() {
      yield [...records];
    },
  };
}
