import { type Fault, httpOf } from '../run/fault.ts';
import { isSameId } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import { profileFlag } from '../settings/profile.ts';
import type { Settings } from '../settings/resolve.ts';
import { defaultProfile, optionalValue } from '../settings/table.ts';
import type { KeyTreatment } from '../settings/values.ts';
import { type CheckResult, type Finding, failed, ok, warning } from './doctor-finding.ts';
import { isHonoredIn, type KeyTrial } from './doctor-key-trial.ts';

/** One finding for each assumption of docs/service.md that the trial could check. */
export function findingsOf(trial: KeyTrial, settings: Settings): Finding[] {
  const { started, refusal, ended, problem } = trial;
  const findings: Finding[] = [];
  if (started) findings.push({ name: 'new_run', ...newRunResult(started) });
  if (started && refusal)
    findings.push({ name: 'active_run', ...activeRunResult(refusal, started) });
  if (ended) findings.push({ name: 'run_status', ...ok(`the run finished ${ended.status}`) });
  const ofKeys = problem ? failed(problem) : keysResult(trial, settings);
  findings.push({ name: 'idempotency_keys', ...ofKeys });
  return findings;
}

function newRunResult({ executionId, status, isFinal }: RunSnapshot): CheckResult {
  const message = `the response to the trigger names run ${executionId}, which is ${status}`;
  return isFinal ? warning(`${message}, though it is new`) : ok(message);
}

function activeRunResult(fault: Fault, { executionId }: RunSnapshot): CheckResult {
  const refusal = `while the run was active, a trigger was refused${httpOf(fault)}`;
  if (isSameId(fault.executionId, executionId)) {
    return ok(`${refusal}, and the response named the run`);
  }
  return warning(
    `${refusal}, but the response didn't name the run`,
    "`--if-active wait` and messages know an active run only from this machine's journal",
  );
}

function keysResult(trial: KeyTrial, settings: Settings): CheckResult {
  const ids = [trial.started, trial.repeated].map((each) => each?.executionId);
  if (isHonoredIn(trial)) {
    const message = `honored: the repeated trigger returned the same run (${ids[0]})`;
    const hint = settingHint('honored', settings);
    return hint ? warning(message, hint) : ok(`${message}; nothing to set`);
  }
  const before = 'triggers that were repeated before may have started two runs';
  const message = `ignored: the repeated trigger started a second run (${ids.join(', then ')}); ${before}`;
  return warning(message, settingHint('ignored', settings));
}

/** How to change the setting so that it agrees with the service. Undefined if it already does. */
function settingHint(
  treatment: KeyTreatment,
  { idempotencyKeys, profile }: Settings,
): string | undefined {
  if (optionalValue(idempotencyKeys) === treatment) return undefined;
  const where = profileFlag(profile.value ?? defaultProfile);
  const command = `runctl config set idempotencyKeys ${treatment}${where}`;
  return `set RUNCTL_IDEMPOTENCY_KEYS=${treatment}, or store it: \`${command}\``;
}
