interface ExitRow {
  code: number;
  name: string;
  meaning: string;
  /** May the same `trigger` line be typed again? */
  repeat: 'yes' | 'with a key of your own';
}

const own = 'with a key of your own';

/** Every exit code: `help exit-codes` and the outcomes in JSON come from here, and tests hold the pages to it. */
// biome-ignore format: a table
export const exitTable = [
  { code: 0,   name: 'ok',                  repeat: own,   meaning: 'done; every run that was followed COMPLETED' },
  { code: 1,   name: 'run_failed',          repeat: own,   meaning: 'the run FAILED' },
  { code: 2,   name: 'usage',               repeat: 'yes', meaning: 'wrong arguments or settings; nothing was sent' },
  { code: 3,   name: 'run_timed_out',       repeat: own,   meaning: 'the run TIMED_OUT' },
  { code: 4,   name: 'run_cancelled',       repeat: own,   meaning: 'the run was CANCELLED' },
  { code: 5,   name: 'already_active',      repeat: 'yes', meaning: 'another run is active; none was started' },
  { code: 6,   name: 'not_found',           repeat: 'yes', meaning: 'no such automation or run' },
  { code: 7,   name: 'unauthorized',        repeat: 'yes', meaning: 'API key refused (401, 403)' },
  { code: 8,   name: 'no_credits',          repeat: 'yes', meaning: 'no AI credits (402)' },
  { code: 9,   name: 'rate_limited',        repeat: 'yes', meaning: 'still rate limited (429) when runctl gave up' },
  { code: 10,  name: 'unavailable',         repeat: 'yes', meaning: 'no valid response; trigger started no run' },
  { code: 11,  name: 'rejected',            repeat: 'yes', meaning: 'refused for another reason' },
  { code: 12,  name: 'outcome_unknown',     repeat: own,   meaning: 'the response to a trigger was lost; a run may exist' },
  { code: 13,  name: 'result_unavailable',  repeat: own,   meaning: "the run COMPLETED, but its result couldn't be read" },
  { code: 14,  name: 'watch_failed',        repeat: own,   meaning: "a run continues that couldn't be followed" },
  { code: 15,  name: 'unrecognized_status', repeat: own,   meaning: "finished with a status that this version doesn't know" },
  { code: 16,  name: 'still_running',       repeat: own,   meaning: 'not finished (result, status --exit-status)' },
  { code: 70,  name: 'internal_error',      repeat: own,   meaning: 'a bug in runctl' },
  { code: 74,  name: 'io_error',            repeat: own,   meaning: "output can't be written, or the journal can't be read" },
  { code: 124, name: 'timeout',             repeat: own,   meaning: '--timeout expired; the run continues' },
  { code: 130, name: 'interrupted',         repeat: own,   meaning: 'Ctrl-C (SIGHUP: 129, SIGTERM: 143); a run may continue' },
  { code: 141, name: 'pipe_closed',         repeat: own,   meaning: 'the reader of the output left; the run continues' },
] as const satisfies readonly ExitRow[];

export type ExitName = (typeof exitTable)[number]['name'];

/** The signals that end a command, with the exit code of each: 128 and its number. */
export const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
export type SignalName = keyof typeof signalExitCodes;

const codes = Object.fromEntries(exitTable.map(({ name, code }) => [name, code])) as Record<
  ExitName,
  number
>;

/** The exit code of a name; for `interrupted` that of the signal. */
export function exitCodeOf(name: ExitName, signal?: AbortSignal): number {
  if (name === 'interrupted' && signal?.aborted) {
    return signalExitCodes[signal.reason as SignalName];
  }
  return codes[name];
}

/** What a command exits with that did several things: a signal, else 12, else the first that isn't 0. */
export function exitNameOfSeveral(names: readonly ExitName[]): ExitName {
  const decisive = (['interrupted', 'outcome_unknown'] as const).find((name) =>
    names.includes(name),
  );
  return decisive ?? names.find((name) => name !== 'ok') ?? 'ok';
}
