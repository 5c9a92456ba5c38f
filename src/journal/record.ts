import type { ExitName } from '../problems/exit-codes.ts';
import type { Target } from '../runs/run.ts';

/** One logical trigger, as the service tells them apart: it scopes idempotency keys by API key. */
export interface Request {
  baseUrl: string;
  /** Fingerprint of the API key. */
  account: string;
  target: Target;
  idempotencyKey: string;
}

/** What can be put on record. Times are ISO 8601, as the service sent them. */
export type NewRecord =
  /** A trigger is about to be sent: `body` is its exact bytes, `given` tells that the user chose the key. */
  | ({ type: 'intent'; body: string; given: boolean; attempt?: string } & Request)
  /** It started this run. */
  | ({ type: 'accepted'; executionId: string; status?: string; startedAt?: string } & Request)
  /** The attempt surely started none; another process may have sent the same key at the same time. */
  | ({ type: 'refused'; name: ExitName; attempt?: string } & Request)
  /** An attempt was sent whose fate is unknown: the intent stays open. */
  | ({ type: 'doubtful'; reason: string } & Request)
  /** The user gave up on learning its outcome. */
  | ({ type: 'forgotten' } & Request)
  | SeenRecord
  | GoneRecord;

/** A state of a run that the service told. */
export interface SeenRecord {
  type: 'seen';
  baseUrl: string;
  target: Target;
  executionId: string;
  status: string;
  startedAt?: string;
  completedAt?: string;
  creditsCharged?: number;
}

/** The service no longer knows this run, which must have ended by then. */
export interface GoneRecord {
  type: 'gone';
  baseUrl: string;
  target: Target;
  executionId: string;
}

/** A record as it stands in the file. */
export type JournalRecord = Stored<NewRecord>;

export type Place = 'first' | 'known';

type Stored<R> = R extends NewRecord
  ? Omit<R, 'target'> & {
      schema: 1;
      /** When it was written, ISO 8601. */
      at: string;
      /** A path (`target-path.ts`): half as long to read as an object. */
      target: string;
      /**
       * Where the story of a run or trigger begins, for readers that come from the end of the file and would not read
       * on to the beginning: `first` when no earlier record tells of this run or open trigger, `known` when a trigger
       * was answered with a run that was on record already.
       */
      place?: Place;
    }
  : never;

/** Is it of a trigger, with its key? */
export const isOfTrigger = <R extends { type: string }>(record: R): record is Exclude<R, { type: 'seen' | 'gone' }> =>
  record.type !== 'seen' && record.type !== 'gone';

/** Tells runs apart. */
export const runIdOf = ({ baseUrl, executionId }: { baseUrl: string; executionId: string }): string =>
  `${baseUrl}\n${executionId}`;

/** Tells triggers apart; of the four parts only a target may hold a line break. */
export const requestIdOf = (request: Omit<Request, 'target'> & { target: string }): string =>
  `${request.baseUrl}\n${request.account}\n${request.idempotencyKey}\n${request.target}`;

/** Tells the attempts of a trigger apart. */
export const attemptIdOf = (record: Extract<JournalRecord, { type: 'intent' | 'refused' }>): string =>
  `${requestIdOf(record)}\n${record.attempt}`;
