import type { Context } from '../context.ts';
import type { Problem } from '../problems/problem.ts';
import { refusedTriggerProblem } from '../problems/trigger-problems.ts';
import type { Reporter } from '../render/reporter.ts';
import { isFinal, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { Connection } from './connect.ts';
import type { KnownRun } from './find-run.ts';
import { lookUp } from './poll-once.ts';
import { triggerOnce } from './trigger-once.ts';
import { createSlot } from './wait-for-slot.ts';

export type IfActive = 'fail' | 'skip' | 'wait' | 'attach';

export interface StartFlags {
  idempotencyKey?: string;
  ifActive?: IfActive;
  giveUpAfterMs?: number;
  /** Bounds `--if-active wait`, */
  timeoutMs?: number;
  /** which looks so often. */
  intervalMs?: number;
  /** How many runs were named together; 1. */
  runs?: number;
}

/** What came of a trigger that did not fail. */
export type Start =
  | ({ kind: 'started'; execution: Execution } & KnownRun)
  /** A run that was there before. `problem` tells why it could not be looked up. */
  | ({ kind: 'replayed' | 'attached'; execution?: Execution; problem?: Problem } & KnownRun)
  | { kind: 'skipped'; target: Target; activeId?: string };

/** Starts one run of `target`, or does what `--if-active` says where one is running. Throws a `Problem`. */
export async function startRun(
  request: { target: Target; body: string },
  flags: StartFlags,
  connection: Connection,
  reporter: Pick<Reporter, 'say' | 'observe'>,
  context: Context,
): Promise<Start> {
  const { target } = request;
  const { ifActive = 'fail' } = flags;
  const slot = createSlot(target, flags, connection, reporter, context);
  for (;;) {
    // A newly minted key for each try: a service may replay a stored refusal for an old one. A given key is kept.
    const idempotencyKey = flags.idempotencyKey ?? crypto.randomUUID();
    const start = await triggerOnce(request, idempotencyKey, flags, connection, reporter, context);
    if (start.kind !== 'conflict') return start;

    const { fault } = start;
    const activeId = fault.executionId ?? lastGoing(target, connection);
    const refused = refusedTriggerProblem({ ...fault, executionId: activeId }, target, idempotencyKey);
    if (ifActive === 'fail') throw refused;
    if (ifActive === 'skip') return { kind: 'skipped', target, activeId };
    if (ifActive === 'attach') {
      if (activeId === undefined) {
        throw refused.with({
          hint: 'nothing names the active run, so it cannot be attached to: try `--if-active wait`',
        });
      }
      const active = await lookUp({ target, executionId: activeId }, flags, connection, context);
      const isGone = active.problem?.facts.name === 'not_found';
      if (!isGone && !(active.execution && isFinal(target, active.execution.status)))
        return { kind: 'attached', ...active };
      throw refused.with({
        hint: `the run that is known (${activeId}) is not active, and nothing names another: try again, or with \`--if-active wait\``,
      });
    }
    await slot.wait(fault, activeId === undefined ? undefined : { target, executionId: activeId }, idempotencyKey);
  }
}

/** The active run, as far as this machine knows. */
function lastGoing(target: Target, { journal, baseUrl }: Connection): string | undefined {
  for (const { executionId, status } of journal.runs({ baseUrl, target })) {
    if (executionId !== null) return status !== null && !isFinal(target, status) ? executionId : undefined;
  }
  return undefined;
}
