import { defaults } from '../runs/defaults.ts';
import { deliveryOf, type Fault } from '../runs/fault.ts';
import type { RetryPorts } from '../runs/retry.ts';
import type { Target } from '../runs/run.ts';
import type { Answer, Execution, Service } from '../runs/service.ts';
import type { AttemptTimes } from './attempt-times.ts';
import { type Acceptance, type HowStarted, howStarted, showsHonoredKey } from './how-started.ts';
import { beganAfter, type DatedExecution } from './moments.ts';
import { eventOf, type TriggerEvent } from './trigger-protocol.ts';
import type { StartEvidence, StartedExecution, TriggerRecord } from './trigger-record.ts';
import { fetchNamedRun, whoseRun } from './whose-run.ts';

/** What a response means for its trigger: a protocol event, and the run that it started, if known. */
export interface Meaning {
  event: TriggerEvent;
  started?: StartedTrigger;
  wasInterrupted?: boolean; // the user interrupted while we asked for the run that a conflict names
}

export interface StartedTrigger extends HowStarted, StartEvidence {
  kind: 'started';
  execution: StartedExecution;
  retryAfterMs?: number; // before we ask for the run
}

/** The state of a trigger so far. */
export interface SentTrigger {
  target: Target;
  userProvided: boolean;
  isRecovery?: boolean;
  wasInDoubt: boolean; // before this attempt
  times: AttemptTimes;
}

export interface MeaningPorts extends RetryPorts {
  service: Pick<Service, 'status'>;
  record: Pick<TriggerRecord, 'inDoubt' | 'isOfAnother'>;
}

export async function meaningOf(
  answer: Answer<DatedExecution>,
  trigger: SentTrigger,
  ports: MeaningPorts,
): Promise<Meaning> {
  if (answer.kind === 'ok') return { event: 'accepted', started: startedBy(answer.value, trigger) };
  const { fault } = answer;
  const { times } = trigger;
  if (deliveryOf(fault) === 'unknown') times.putInDoubt();
  if (fault.kind === 'already_active' && trigger.wasInDoubt) return conflictAfterDoubt(fault, trigger, ports);
  return { event: eventOf(fault, 'unknown') };
}

/** The run that the conflict names may be ours, and a lost response would have named it. */
async function conflictAfterDoubt(fault: Fault, trigger: SentTrigger, ports: MeaningPorts): Promise<Meaning> {
  const { target, times } = trigger;
  const { record } = ports;
  const { executionId } = fault;
  const lastInDoubt = times.lastInDoubt();
  // Record the conflict before asking anything, in case the process is killed meanwhile.
  record.inDoubt(fault, { sentAtMs: lastInDoubt.wallMs, isLast: false });
  if (executionId === undefined) return { event: 'conflict' };
  const polled = await fetchNamedRun({ target, executionId }, { ...ports, giveUpAfterMs: defaults.giveUpAfterMs });
  if (polled.kind !== 'ok') return { event: 'conflict', wasInterrupted: polled.kind === 'interrupted' };
  const { execution, dated } = polled.value;
  const owner = whoseRun({ first: times.first(), lastInDoubt }, dated);
  if (owner !== 'ours') return { event: eventOf(fault, owner) };
  if (record.isOfAnother(executionId)) return { event: 'conflict' };
  const named = { execution: { ...execution, executionId }, dated };
  return { event: eventOf(fault, owner), started: startedByTime(named, trigger) };
}

function startedBy(answer: DatedExecution, trigger: SentTrigger): StartedTrigger {
  const acceptance = acceptanceOf(answer, trigger);
  const execution = withId(answer.execution);
  const { retryAfterMs } = answer;
  const isKeyHonored = showsHonoredKey(acceptance);
  return { kind: 'started', execution, retryAfterMs, ...howStarted(acceptance), isKeyHonored };
}

function startedByTime(answer: DatedExecution, trigger: SentTrigger): StartedTrigger {
  const { userProvided, isRecovery } = trigger;
  const ofAttempt: HowStarted = userProvided ? foundByKey : { how: 'recovered', started: 'yes' };
  const how = isRecovery ? howStarted(acceptanceOf(answer, trigger)) : ofAttempt;
  return { kind: 'started', execution: withId(answer.execution), ...how, isByTime: true };
}

/** Several processes sent the key, and we don't know whose attempt started the run. */
export const foundByKey: HowStarted = { how: 'found', started: 'unknown' };

function acceptanceOf({ execution, dated }: DatedExecution, { times, ...trigger }: SentTrigger): Acceptance {
  return {
    ...trigger,
    execution,
    afterFirst: beganAfter(times.ownFirst(), dated),
    afterThis: beganAfter(dated.sent, dated),
    mayHaveActed: times.mayHaveActed(),
    isEarlierRecent: times.isEarlierRecent(),
  };
}

export function withId({ executionId = '', status, document, ...fields }: Execution): StartedExecution {
  return { ...fields, executionId, status, document: { executionId, status, ...document } };
}
