import { isDeepStrictEqual } from 'node:util';
import type { Fault } from '../../src/runs/fault.ts';
import type { Run, Target } from '../../src/runs/run.ts';
import type { Answer, Execution, RunResult, Service, TriggerRequest } from '../../src/runs/service.ts';
import { fault } from './scripted-service.ts';

/** What happens to one request. Of a fault that `acts` the service did its work, and only the answer is lost. */
export type Weather =
  | { kind: 'fair' }
  | { kind: 'fault'; fault: Fault; acts: boolean }
  /** Of a look: as things stood before, or not there yet (within 20 s of the trigger), or a state of another version. */
  | { kind: 'stale' | 'missing' | 'odd' };

export interface ModelOptions {
  order: 'keyFirst' | 'activeFirst';
  namesActiveRun: boolean;
  replaysRefusals: boolean;
  durationMs: number;
  nowMs(): number;
  weather(operation: 'trigger' | 'status' | 'result'): Weather;
}

export interface ModelRun extends Run {
  idempotencyKey: string;
  startedAtMs: number;
  endsAtMs: number;
  outcome: string;
}

const outcomes = ['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'];
const lateMs = 20_000;

/** The service of the interface in memory, without HTTP: keys, one active run, and the weather on the way to it. */
export function createServiceModel(options: ModelOptions): Service & { runs: readonly ModelRun[] } {
  const { nowMs, weather } = options;
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

  function look<T>(run: Run, struck: Weather, tell: (found: ModelRun, status: string) => Answer<T>): Answer<T> {
    const found = find(run);
    if (struck.kind === 'fault') return struck;
    if (!found) return fault('not_found', { httpStatus: 422 });
    if (struck.kind === 'missing' && nowMs() < found.startedAtMs + lateMs)
      return fault('not_found', { httpStatus: 422 });
    if (struck.kind === 'stale') return tell(found, 'RUNNING');
    if (struck.kind === 'odd' && stateOf(found) === 'RUNNING') return tell(found, 'PAUSED');
    return tell(found, stateOf(found));
  }

  return {
    runs,
    async trigger(request) {
      const struck = weather('trigger');
      if (struck.kind !== 'fault') return accept(request);
      if (struck.acts) accept(request);
      return struck;
    },
    status: async (run) => look(run, weather('status'), executionOf),
    result: async (run) =>
      look<RunResult>(run, weather('result'), (_, status) => ({
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
