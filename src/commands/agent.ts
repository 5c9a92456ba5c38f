import type { Context } from '../context.ts';
import { httpFact } from '../output/state.ts';
import type { ExitName } from '../run/exit-codes.ts';
import { type Answer, type Failure, rowOf } from '../run/failure.ts';
import { Problem, type Report } from '../run/report.ts';
import type { JsonObject } from '../run/run.ts';
import { isUuid } from '../run/run.ts';
import { resolveSettings } from '../settings/resolve.ts';
import { cleanLine } from '../text/clean.ts';
import type { CommandResult } from './command.ts';
import { openService } from './open.ts';

// The service has discontinued Agents. Each command makes one request, which is neither repeated
// nor recorded.

export interface AgentTriggerFlags {
  message?: string;
  title?: string;
  idempotencyKey?: string;
}

/** Sends one trigger to an agent, and prints the id of the response. */
export async function agentTrigger(
  agentId: string,
  { message, title, idempotencyKey }: AgentTriggerFlags,
  context: Context,
): Promise<CommandResult> {
  const id = checkedUuid(agentId, 'an agent');
  const answer = await openAgents(context).agentTrigger(id, { message, title }, idempotencyKey);
  if (answer.ok) return resultOf(answer, 'executionId');

  const { failure } = answer;
  if (rowOf(failure).effect === 'none') {
    return failed(failure, `agent ${id} wasn't triggered`, rowOf(failure).exit);
  }
  const exit = context.signal.aborted ? 'interrupted' : 'outcome_unknown';
  const advice = idempotencyKey
    ? 'The same command may be typed again: it has an idempotency key'
    : 'Look in the service for its run before you type this again';
  return failed(failure, `agent ${id} may have been triggered`, exit, advice);
}

/** Prints the status of an agent's run. */
export async function agentStatus(
  agentId: string,
  executionId: string,
  context: Context,
): Promise<CommandResult> {
  const id = checkedUuid(agentId, 'an agent');
  const run = checkedUuid(executionId, 'a run');
  const answer = await openAgents(context).agentStatus(id, run);
  if (answer.ok) return resultOf(answer, 'status');
  const { failure } = answer;
  return failed(failure, `the status of run ${run} couldn't be read`, rowOf(failure).exit);
}

function openAgents(context: Context) {
  const service = openService(context, resolveSettings(context));
  const text = 'Agents are discontinued, and calls no longer start a run: use runctl trigger';
  context.emit({ type: 'warning', text });
  return service;
}

function checkedUuid(text: string, what: string): string {
  if (!isUuid(text)) throw new Problem(`"${text}" isn't the id of ${what}: use a UUID`);
  return text.toLowerCase();
}

function resultOf({ value }: Answer<JsonObject> & { ok: true }, field: string): CommandResult {
  const text = cleanLine(String(value[field] ?? ''));
  return { reports: [{ kind: 'done', exit: 'ok', text, document: value }], show: 'text' };
}

function failed(failure: Failure, what: string, exit: ExitName, advice?: string): CommandResult {
  const fact = httpFact(failure);
  const sentence = `${what}: ${failure.reason}${fact ? ` (${fact})` : ''}`;
  const message = advice ? `${sentence}. ${advice}` : sentence;
  const command = !advice && rowOf(failure).fix === 'doctor' ? 'runctl doctor' : undefined;
  const report: Report = { kind: 'done', exit, document: {}, error: { message, command } };
  return { reports: [report], show: 'text' };
}
