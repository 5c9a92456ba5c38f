import type { RunSnapshot } from './service.ts';

/** How a trigger ended, as the JSON document says it. */
export type HowTriggered = (typeof attributions)[Attribution]['how'];

interface AttributionRow {
  how: 'started' | 'recovered' | 'found' | 'replayed' | 'skipped' | 'not_started' | 'unknown';
  /** Whether this command started a run. */
  started: 'yes' | 'no' | 'unknown';
}

/**
 * What shows whether this command started a run, and what follows. Only ids, idempotency keys and
 * the end of a run show it, never a time: the service's clocks may differ, and a request may act
 * late (docs/service.md).
 */
export const attributions = {
  /** runctl generated the idempotency key, so nobody else can have started the run. */
  generated_key: { how: 'started', started: 'yes' },
  /** The user gave the idempotency key, so somebody else may have sent it. */
  shared_key: { how: 'found', started: 'unknown' },
  /** The run had finished before, because no attempt was in doubt and a new run is RUNNING. */
  finished_run: { how: 'replayed', started: 'no' },
  /** The run is in the journal, and no attempt of this command started one. */
  recorded_run: { how: 'replayed', started: 'no' },
  recovered_run: { how: 'recovered', started: 'unknown' },
  /** `recover` got the run, but its own attempts can't have started it. */
  recovered_earlier: { how: 'recovered', started: 'no' },
  /** Agents are discontinued, so a response may not mean a run. */
  agent_run: { how: 'started', started: 'unknown' },
  /** With `--if-active skip`, another run was active. */
  left_active: { how: 'skipped', started: 'no' },
  no_run: { how: 'not_started', started: 'no' },
  in_doubt: { how: 'unknown', started: 'unknown' },
} as const satisfies Record<string, AttributionRow>;

export type Attribution = keyof typeof attributions;

/** Whether the run may have been started before this command. */
export function mayBeEarlierRun(attribution: Attribution): boolean {
  const { how } = attributions[attribution];
  return how === 'replayed' || how === 'found';
}

interface Sender {
  /** The user gave the idempotency key. */
  userProvided: boolean;
  /** The command is `recover`, which has to say how earlier attempts ended. */
  resolvesEarlierAttempts?: boolean;
  /** An attempt of this command is in doubt: the service may have acted on it. */
  hasOwnAttemptInDoubt: boolean;
}

/**
 * The attribution of a run that the service returned. It depends on whether the run has finished,
 * but on none of its times.
 */
export function attributionOf(
  run: Pick<RunSnapshot, 'isFinal'> & { completedAt?: unknown },
  { userProvided, resolvesEarlierAttempts, hasOwnAttemptInDoubt }: Sender,
): Attribution {
  const hasFinished = run.isFinal || run.completedAt !== undefined;
  const isEarlier = hasFinished && !hasOwnAttemptInDoubt;
  if (resolvesEarlierAttempts) return isEarlier ? 'recovered_earlier' : 'recovered_run';
  if (userProvided) return isEarlier ? 'finished_run' : 'shared_key';
  return 'generated_key';
}

/**
 * The attribution of a run that another process recorded for the idempotency key, while the
 * attempts of this command got none.
 */
export function attributionOfRecord({
  resolvesEarlierAttempts,
  hasOwnAttemptInDoubt,
}: Pick<Sender, 'resolvesEarlierAttempts' | 'hasOwnAttemptInDoubt'>): Attribution {
  if (resolvesEarlierAttempts) return hasOwnAttemptInDoubt ? 'recovered_run' : 'recovered_earlier';
  return hasOwnAttemptInDoubt ? 'shared_key' : 'recorded_run';
}
