import type { Problem } from '../problems/problem.ts';
import { refusedTriggerProblem, usedKeyProblem } from '../problems/trigger-problems.ts';
import { randomUuid } from '../random-uuid.ts';
import { defaults } from '../runs/defaults.ts';
import type { Following } from '../session/following.ts';
import { argumentOf } from '../session/known-run.ts';
import { momentOf } from '../triggering/moments.ts';
import type { TriggerIdentity } from '../triggering/send-until-known.ts';
import { activeRun, hadFinished, lastUnfinished, mayBeActive, startOfActive } from './active-run.ts';
import type { ActionFlags } from './flags.ts';
import { createSlot } from './slot.ts';
import type { StartRequest, StartResult } from './start-result.ts';
import { startUnlessKeyUsed } from './start-unless-key-used.ts';

/** Triggers a run; if one is active already, does as `--if-active` says. */
export async function startUnlessActive(
  request: StartRequest,
  flags: ActionFlags,
  following: Following,
): Promise<StartResult> {
  const { target } = request;
  const { ifActive = defaults.ifActive } = flags;
  const slot = createSlot(target, flags, following);
  for (let isWaiting = false; ; isWaiting = true) {
    const identity = await identityOf(request, following);
    const { idempotencyKey } = identity;
    const sent = momentOf(following.context.clock);
    const failed = (problem: Problem): StartResult => ({ kind: 'failed', target, problem, idempotencyKey });
    const start = await startUnlessKeyUsed(identity, request.body, flags, following, isWaiting);
    if (start.kind !== 'refused') return { ...start, idempotencyKey };

    const { fault } = start;
    const isConflict = fault.kind === 'already_active';
    const activeId = isConflict ? (fault.executionId ?? lastUnfinished(target, following)) : undefined;
    const active = activeId === undefined ? undefined : { target, executionId: activeId };
    const refused = (since?: string) =>
      refusedTriggerProblem(
        { ...fault, executionId: activeId },
        { target, active: active && { argument: argumentOf(active, following), since } },
      );
    const isNamed = fault.executionId !== undefined;
    if (isConflict && ifActive === 'fail') {
      return failed(refused(active && isNamed ? await startOfActive(active, following) : undefined));
    }
    if (isConflict && ifActive === 'skip') return { kind: 'skipped', target, activeId, idempotencyKey };
    if (isConflict && ifActive === 'attach') {
      if (!active) {
        const hint = "the service didn't say which run is active; use `--if-active wait`";
        return failed(refused().with({ hint }));
      }
      const attached = await activeRun(active, flags, following);
      if (isNamed ? !hadFinished(attached, sent, following) : mayBeActive(attached)) {
        return { kind: 'attached', ...attached, idempotencyKey };
      }
      const hint = `run ${activeId} has finished; try again, or use \`--if-active wait\``;
      return failed(refused().with({ hint }));
    }
    if (identity.userProvided && slot.hasFinished(fault.executionId)) return failed(usedKeyProblem(identity));
    const problem = await slot.wait(fault, active, identity);
    if (problem) return failed(problem);
  }
}

/** Each try has a new idempotency key, unless the user gave one: a service may replay the refusal of an old key. */
async function identityOf(request: StartRequest, { baseUrl, account }: Following): Promise<TriggerIdentity> {
  const { target, idempotencyKey = randomUuid() } = request;
  const userProvided = request.idempotencyKey !== undefined;
  return { baseUrl, account: await account(idempotencyKey), target, idempotencyKey, userProvided };
}
