import type { RunSnapshot } from './service.ts';

/** How a trigger can end. */
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
  generated_key: { how: 'started', started: 'yes' }, // nobody else has the key, so the run is ours
  shared_key: { how: 'found', started: 'unknown' }, // others may have sent a key that the user set
  // no attempt was in doubt, and a new run is RUNNING
  finished_run: { how: 'replayed', started: 'no' },
  // in the journal, and none of our attempts started a run
  recorded_run: { how: 'replayed', started: 'no' },
  recovered_run: { how: 'recovered', started: 'unknown' },
  recovered_earlier: { how: 'recovered', started: 'no' }, // the same, but `recover` itself can't have started it
  // Agents are discontinued, so an answer may not mean a run
  agent_run: { how: 'started', started: 'unknown' },
  left_active: { how: 'skipped', started: 'no' },
  no_run: { how: 'not_started', started: 'no' },
  in_doubt: { how: 'unknown', started: 'unknown' },
} as const satisfies Record<string, AttributionRow>;

export type Attribution = keyof typeof attributions;

/** May the run have been there before this command? */
export function mayBeEarlierRun(attribution: Attribution): boolean {
  const { how } = attributions[attribution];
  return how === 'replayed' || how === 'found';
}

interface Sender {
  userProvided: boolean;
  isRecovery?: boolean;
  /** The service may have acted on an attempt of this command. */
  isOwnInDoubt: boolean;
}

/**
 * Whose run it is that the service returned for an attempt. Whether the run has finished counts,
 * but none of its times.
 */
export function attributionOf(
  run: Pick<RunSnapshot, 'isFinal'> & { completedAt?: unknown },
  { userProvided, isRecovery, isOwnInDoubt }: Sender,
): Attribution {
  const hasFinished = run.isFinal || run.completedAt !== undefined;
  const isEarlier = hasFinished && !isOwnInDoubt;
  if (isRecovery) return isEarlier ? 'recovered_earlier' : 'recovered_run';
  if (userProvided) return isEarlier ? 'finished_run' : 'shared_key';
  return 'generated_key';
}

/**
 * Whose run it is that another process recorded for the key, while the attempts of this command got
 * none.
 */
export function attributionOfRecord({
  isRecovery,
  isOwnInDoubt,
}: Pick<Sender, 'isRecovery' | 'isOwnInDoubt'>): Attribution {
  if (isRecovery) return isOwnInDoubt ? 'recovered_run' : 'recovered_earlier';
  return isOwnInDoubt ? 'shared_key' : 'recorded_run';
}
