import type { Context } from '../context.ts';
import { printSentence } from '../render/output.ts';
import type { AgentTarget } from '../runs/run.ts';
import { parseUuidArgument } from '../session/arguments.ts';
import { connect } from '../session/connect.ts';
import { followAll } from '../session/follow-runs.ts';
import { triggerAll } from '../session/trigger-runs.ts';
import { type StatusOptions, showStatus } from './status.ts';
import { checkWatchFlags, type TriggerOptions } from './trigger.ts';
import type { WatchOptions } from './watch.ts';

export interface AgentTriggerOptions extends TriggerOptions {
  title?: string;
  message?: string;
}

/** `runctl agent trigger <agentId>`. */
export async function agentTrigger(agentId: string, options: AgentTriggerOptions, context: Context): Promise<number> {
  const target = agentTarget(agentId);
  checkWatchFlags(options);
  await sayDiscontinued(context);
  const { title, message } = options;
  const body = JSON.stringify({ message, title });
  return triggerAll([{ target, body }], options, await connect(options, context));
}

/** `runctl agent status <agentId> <executionId>`. */
export async function agentStatus(
  agentId: string,
  executionId: string,
  options: StatusOptions,
  context: Context,
): Promise<number> {
  const run = { target: agentTarget(agentId), executionId: parseUuidArgument(executionId, 'an execution id') };
  await sayDiscontinued(context);
  return showStatus({ run }, options, await connect(options, context));
}

/** `runctl agent watch <agentId> <executionId>`. */
export async function agentWatch(
  agentId: string,
  executionId: string,
  options: WatchOptions,
  context: Context,
): Promise<number> {
  const run = { target: agentTarget(agentId), executionId: parseUuidArgument(executionId, 'an execution id') };
  await sayDiscontinued(context);
  return followAll([{ run }], { ...options, plural: false }, await connect(options, context));
}

function agentTarget(agentId: string): AgentTarget {
  return { family: 'agent', agentId: parseUuidArgument(agentId, 'an agent id') };
}

/** Printed at every use, with `--quiet` too: scripts that still use Agents no longer start anything. */
function sayDiscontinued(context: Context): Promise<void> {
  return printSentence('Agents are discontinued: `runctl trigger <automation>` replaces them', context);
}
