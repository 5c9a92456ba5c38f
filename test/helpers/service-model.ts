import { isDeepStrictEqual } from 'node:util';
import type { Fault } from '../../src/runs/fault.ts';
import type { Run, Target } from '../../src/runs/run.ts';
import type { Answer, Execution, RunResult, Service, TriggerRequest } from '../../src/runs/service.ts';
import { fault } from './scripted-service.ts';

/** What happens to one request. Of a fault that `acts` the service did its work, and only the answer is lost. */
export type Condition =
  | { kind: 'normal' }
  | { kind: 'fault'; fault: Fault; acts: boolean }
  /** Of a poll: as things stood before, or not there yet (within 20 s of the trigger), or a status of another version. */
  | { kind: 'stale' | 'missing' | 'odd' };

export interface ModelOptions {
  order: 'keyFirst' | 'activeFirst';
  namesActiveRun: boolean;
  replaysRefusals: boolean;
  durationMs: number;
  nowMs(): number;
  nextCondition(operation: 'trigger' | 'status' | 'result'): Condition;
}

export interface ModelRun extends Run {
  idempotencyKey: string;
  startedAtMs: number;
  endsAtMs: number;
  outcome: string;
}

const outcomes = ['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'];
const lateMs = 20_000;

/** The service of the interface in memory, without HTTP: idempotency keys, one active run, and what happens to each request. */
export function createServiceModel(options: ModelOptions): Service & { runs: readonly ModelRun[] } {
  const { nowMs, nextCondition } = options;
  const runs: ModelRun[] = [];
  const refusedKeys = new Set<string>();

  const stateOf = (run: ModelRun) => (nowMs() < run.endsAtMs ? 'RUNNING' : run.outcome);
  const activeOf = (target: Target) =>
    runs.find((run) => isDeepStrictEqual(run.target, target) && nowMs() < run.endsAtMs);
  const find = ({ executionId }: Run) => runs.find((run) => run.executionId === executionId);

  function accept({ target, idempotencyKey }: TriggerRequest): Answer<Execution> {
    const earlier = runs.find((run) => run.idempotencyKey === idempotencyKey && isDeepStrictEqual(run.target, target));
    const active = activeOf(target);
    if (refusedKeys.has(idempotencyKey)) return conflict();
    if (earlier && (options.order === 'keyFirst' || !active)) return executionOf(earlier, 'RUNNING');
    if (active) {
      if (options.replaysRefusals) refusedKeys.add(idempotencyKey);
      return conflict(active);
    }
    const startedAtMs = nowMs();
    const executionId = `00000000-0000-4000-8000-${String(runs.length).padStart(12, '0')}`;
    const outcome = outcomes[runs.length % outcomes.length] ?? 'COMPLETED';
    const run = {
      target,
      executionId,
      idempotencyKey,
      startedAtMs,
      endsAtMs: startedAtMs + options.durationMs,
      outcome,
    };
    runs.push(run);
    return executionOf(run, 'RUNNING');
  }

  const conflict = (active?: ModelRun) =>
    fault('already_active', {
      httpStatus: 422,
      executionId: options.namesActiveRun ? active?.executionId : undefined,
    });

  function poll<T>(run: Run, condition: Condition, tell: (found: ModelRun, status: string) => Answer<T>): Answer<T> {
    const found = find(run);
    if (condition.kind === 'fault') return condition;
    if (!found) return fault('not_found', { httpStatus: 422 });
    if (condition.kind === 'missing' && nowMs() < found.startedAtMs + lateMs)
      return fault('not_found', { httpStatus: 422 });
    if (condition.kind === 'stale') return tell(found, 'RUNNING');
    if (condition.kind === 'odd' && stateOf(found) === 'RUNNING') return tell(found, 'PAUSED');
    return tell(found, stateOf(found));
  }

  return {
    runs,
    async trigger(request) {
      const condition = nextCondition('trigger');
      if (condition.kind !== 'fault') return accept(request);
      if (condition.acts) accept(request);
      return condition;
    },
    status: async (run) => poll(run, nextCondition('status'), executionOf),
    result: async (run) =>
      poll<RunResult>(run, nextCondition('result'), (_, status) => ({
        kind: 'ok',
        value: { status, document: { status } },
      })),
  };
}

function executionOf(run: ModelRun, status: string): Answer<Execution> {
  const { executionId, startedAtMs } = run;
  const startedAt = new Date(startedAtMs).toISOString();
  return { kind: 'ok', value: { executionId, status, startedAt, document: { executionId, status, startedAt } } };
}
