import { foundRunOf } from '../journal/found-run.ts';
import { ageOf, isOpen } from '../run/entry.ts';
import { type Evidence, mayBeEarlier, meanings } from '../run/evidence.ts';
import { interruptNameOf } from '../run/exit-codes.ts';
import { exitNameOf, type Fault, interrupted, isInterruption } from '../run/fault.ts';
import type { ActiveRun, Conflict, SlotEnd, Start, TriggerOutcome, WhyInDoubt } from '../run/outcome.ts';
import type { Run, Target } from '../run/run.ts';
import type { RunStatus } from '../run/service.ts';
import type { IfActive, Trigger } from '../run/trigger.ts';
import { askBeside, askStatus, isNowForgotten, isOutage } from '../watch/ask.ts';
import type { Started, StartPorts, StartRequest } from './ports.ts';
import type { FailedTrigger, RecordedTrigger, StartedTrigger } from './send-until-known.ts';

/** A trigger that has a run, new or not. Followed from the answer on, unless the run was there before. */
export async function withRun(
  result: StartedTrigger | RecordedTrigger,
  trigger: Trigger,
  ports: StartPorts,
): Promise<Started> {
  const { target } = trigger;
  if (result.kind === 'recorded') {
    const run = { target, executionId: result.executionId };
    return withEarlierRun(run, startOf(result.evidence, trigger, ports), ports);
  }
  const { run: status, evidence, retryAfterMs } = result;
  const run = { target, executionId: status.executionId };
  const start = startOf(evidence, trigger, ports);
  const isEarlier = meanings[evidence].started === 'no' || (evidence === 'shared_key' && status.isFinal);
  const { clock } = ports;
  const startedMs = clock.elapsedMs();
  const sinceTriggerMs = () => clock.elapsedMs() - startedMs;
  const found = isEarlier ? { run } : { run, answer: { status, retryAfterMs }, sinceTriggerMs };
  return { outcome: { kind: 'started', target, run, ...withStatus(start, status) }, found };
}

/** The status, and with which one the run had finished before this command: it isn't mistaken for a new one. */
function withStatus(start: Start, status: RunStatus): { start: Start; status: RunStatus } {
  return {
    start: mayBeEarlier(start.evidence) && status.isFinal ? { ...start, endedAs: status.status } : start,
    status,
  };
}

/** A trigger whose run existed before. It is named even if its status can't be read, as it is known anyway. */
async function withEarlierRun(run: Run, start: Start, ports: StartPorts): Promise<Started> {
  const { journal, baseUrl, clock, signal } = ports;
  const found = foundRunOf(run, journal.find(run.executionId, { baseUrl }), clock);
  const about = { target: run.target, run, start };
  const answer = await askStatus(found, ports);
  if (answer.kind === 'ok')
    return { outcome: { kind: 'started', ...about, ...withStatus(start, answer.value) }, found };
  const { fault } = answer;
  if (isInterruption(fault)) {
    const interruptedBy = interruptNameOf(signal);
    return { outcome: { kind: 'unread', ...about, operation: 'status', fault, interruptedBy }, found };
  }
  const isRecorded = await isNowForgotten(run, fault, ports);
  const seen = found.seen?.();
  // A 404 may come from a router, so it says as little as a 503.
  if (fault.kind !== 'not_found') return { outcome: { kind: 'started', ...about, unread: fault, seen }, found };
  // The service has dropped it, and the journal says how it ended.
  if (seen?.status.isFinal)
    return { outcome: { kind: 'started', ...about, ...withStatus(start, seen.status), unread: fault } };
  return { outcome: { kind: 'unread', ...about, operation: 'status', fault, seen, isRecorded }, found };
}

/**
 * Asks once how a run stands that an earlier command may have started. A service may repeat its first response, in which a
 * run is RUNNING that failed hours ago.
 */
export async function withCurrentStatus(outcome: TriggerOutcome, ports: StartPorts): Promise<TriggerOutcome> {
  const isFound = outcome.kind === 'started' && meanings[outcome.start.evidence].how === 'found';
  if (!isFound || outcome.status?.isFinal) return outcome;
  const { run, start } = outcome;
  const status = await askBeside('status', run, ports);
  if (!status) return outcome;
  ports.journal.recordStatus(ports.baseUrl, run, status);
  return status.isFinal ? { ...outcome, ...withStatus(start, status) } : outcome;
}

/** A trigger that started no run, or whose outcome is unknown. */
export function withoutRun(
  failed: FailedTrigger,
  { trigger, ifActive, wait }: { trigger: Trigger; ifActive?: IfActive; wait?: SlotEnd },
  ports: StartPorts,
): Started {
  const { target } = trigger;
  const { kind, fault } = failed;
  if (kind === 'unknown') return inDoubt(whyUnknown(fault, trigger, ports), trigger, ports);
  if (kind === 'interrupted' && failed.mayHaveStarted) return inDoubt({ kind }, trigger, ports);
  const start = startOf('refused', trigger, ports);
  if (kind === 'interrupted') return { outcome: notStarted(target, start, ports) };
  const active = wait ? undefined : activeRunOf(fault, target, ports);
  if (active && ifActive === 'skip') {
    const skipped = startOf('left_active', trigger, ports);
    return { outcome: { kind: 'skipped', target, start: skipped, activeId: active.executionId } };
  }
  const isRepeatedRefusal = isRefusedAgain(fault, trigger, ports);
  return {
    outcome: {
      kind: 'refused',
      target,
      start,
      fault,
      active,
      wait,
      isOutage: isOutage(fault, ports),
      isRepeatedRefusal,
    },
  };
}

/** Was the same idempotency key refused like that by an earlier command? If it is in doubt, a new one could start a second run. */
function isRefusedAgain(fault: Fault, trigger: Trigger, { journal }: StartPorts): boolean {
  const mayBeRepeated = fault.kind === 'no_credits' || fault.kind === 'unauthorized';
  if (!trigger.userProvided || !mayBeRepeated || journal.findKey(trigger)) return false;
  return journal.refusalsOf(trigger, exitNameOf(fault)) > 1;
}

function whyUnknown(fault: Fault, trigger: Trigger, { journal }: StartPorts): WhyInDoubt {
  if (fault.kind === 'stale_key') return { kind: 'expired' };
  if (fault.kind !== 'taken_key') return { kind: 'lost', fault };
  const recorded = journal.findKey(trigger);
  const [sender] = recorded?.kind === 'unresolved' ? recorded.senders : [];
  return sender ? { kind: 'sending', process: sender.process } : { kind: 'withheld' };
}

/** A signal came before anything was sent. */
export function notSent({ target, idempotencyKey: given }: StartRequest, ports: StartPorts): Started {
  const idempotencyKey = given ?? null;
  return { outcome: notStarted(target, { evidence: 'refused', idempotencyKey, isRepeatable: true }, ports) };
}

function notStarted(target: Target, start: Start, { signal }: StartPorts): TriggerOutcome {
  return { kind: 'refused', target, start, fault: interrupted, interruptedBy: interruptNameOf(signal) };
}

export function inDoubt(why: WhyInDoubt, trigger: Trigger, ports: StartPorts): Started {
  const { target } = trigger;
  const { journal, ignoresKeys, clock, signal } = ports;
  const known = journal.findKey(trigger);
  const recorded = known?.kind === 'unresolved' ? known : undefined;
  return {
    outcome: {
      kind: 'in_doubt',
      target,
      start: startOf('in_doubt', trigger, ports),
      interruptedBy: why.kind === 'interrupted' ? interruptNameOf(signal) : undefined,
      doubt: {
        why,
        recorded: recorded && { at: recorded.at, ageMs: ageOf(recorded, clock.nowMs()) },
        conflict: conflictOf(why, recorded?.conflict, trigger, ports),
        ifActive: recorded ? recorded.ifActive : trigger.ifActive,
        ignoresKeys,
      },
    },
  };
}

/** The run that the last attempt met, else the one that the journal has. */
function conflictOf(
  why: WhyInDoubt,
  recorded: { activeExecutionId?: string } | undefined,
  { idempotencyKey }: Trigger,
  { journal, baseUrl }: StartPorts,
): Conflict | undefined {
  const fault = why.kind === 'lost' && why.fault.kind === 'already_active' ? why.fault : undefined;
  if (!recorded && !fault) return undefined;
  const activeExecutionId = fault?.executionId ?? recorded?.activeExecutionId;
  if (activeExecutionId === undefined) return { isOthers: false };
  // Another process may have recorded that run meanwhile.
  const active = journal.find(activeExecutionId, { baseUrl, fresh: true });
  const isOthers = active?.idempotencyKey !== undefined && active.idempotencyKey !== idempotencyKey;
  return { activeExecutionId, isOthers };
}

/** What stands in the way: the run that the refusal names, else the last one here if it is unfinished. */
export function activeRunOf(fault: Fault, target: Target, ports: StartPorts): ActiveRun | undefined {
  if (fault.kind !== 'already_active') return undefined;
  const { journal, baseUrl } = ports;
  const named = fault.executionId;
  const executionId = named ?? lastUnfinished(target, ports);
  if (executionId === undefined) return { mayBeLost: journal.unresolved({ baseUrl, target }).length > 0 };
  // Of a run that only the journal calls active, nobody knows whether it is.
  const since = named === undefined ? undefined : journal.find(named, { baseUrl })?.startedAt;
  return { executionId, since };
}

/** A target's last run, if it was unfinished when last polled. */
function lastUnfinished(target: Target, { journal, baseUrl, clock }: StartPorts): string | undefined {
  for (const entry of journal.entries({ baseUrl, target })) {
    if (entry.kind === 'unresolved') continue;
    const isUnfinished = entry.kind === 'run' && !entry.isFinal && isOpen(entry, clock.nowMs());
    return isUnfinished ? entry.executionId : undefined;
  }
  return undefined;
}

function startOf(evidence: Evidence, trigger: Trigger, ports: StartPorts): Start {
  const { idempotencyKey } = trigger;
  return { evidence, idempotencyKey, isRepeatable: isRepeatable(evidence, trigger, ports) };
}

/** Can the command line be repeated without a second run of this target? A generated key is new each time. */
function isRepeatable(evidence: Evidence, trigger: Trigger, { journal, ignoresKeys }: StartPorts): boolean {
  const startedNone = meanings[evidence].started === 'no';
  if (!trigger.userProvided) return startedNone;
  if (!ignoresKeys) return true;
  const recorded = journal.findKey(trigger);
  return recorded ? recorded.kind === 'run' : startedNone;
}
