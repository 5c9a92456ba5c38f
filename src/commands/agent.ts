import type { Context } from '../context.ts';
import type { ExitName } from '../core/exit-codes.ts';
import { type Failure, rowOf } from '../core/failure.ts';
import { Problem, type Report } from '../core/report.ts';
import type { JsonObject } from '../core/run.ts';
import { isUuid } from '../core/run.ts';
import { httpFact } from '../output/state.ts';
import { resolveSettings } from '../settings/settings.ts';
import { cleanLine } from '../text/clean.ts';
import { type CommandResult, done } from './command.ts';
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
  if (answer.ok) return resultOf(answer.value, 'executionId');

  const { failure } = answer;
  const { effect, exit } = rowOf(failure);
  if (effect === 'none') return failed(failure, `agent ${id} wasn't triggered`, exit);
  const what = `agent ${id} may have been triggered (look in the service for its run)`;
  return failed(failure, what, context.signal.aborted ? 'interrupted' : 'outcome_unknown');
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
  if (answer.ok) return resultOf(answer.value, 'status');
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

function resultOf({ document }: { document: JsonObject }, field: string): CommandResult {
  return done(document, cleanLine(String(document[field] ?? '')));
}

function failed(failure: Failure, what: string, exit: ExitName): CommandResult {
  const fact = httpFact(failure);
  const message = `${what}: ${failure.reason}${fact ? ` (${fact})` : ''}`;
  const command = rowOf(failure).fix === 'doctor' ? 'runctl doctor' : undefined;
  const report: Report = { kind: 'done', exit, document: {}, error: { message, command } };
  return { reports: [report], show: 'text' };
}
