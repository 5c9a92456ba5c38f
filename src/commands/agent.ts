import { Command } from 'commander';
import { define } from '../cli/command.ts';
import type { SharedFlags } from '../cli/options.ts';
import { idempotencyKey } from '../cli/values.ts';
import { openHttp } from '../connection/connect.ts';
import type { CommandContext } from '../context.ts';
import { type FieldRow, renderFields } from '../output/fields.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import {
  deliveryOf,
  exitNameOfFault,
  type Fault,
  hintOf,
  httpOf,
  isInterruption,
} from '../run/fault.ts';
import { isRunPossible, Problem, usageProblem } from '../run/problem.ts';
import { quote } from '../run/quote.ts';
import { isUuid } from '../run/run.ts';
import { resolveSettings } from '../settings/resolve.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { localTime } from '../system/time-text.ts';

// The service has discontinued Agents. Each of these commands makes one request, which is neither
// retried nor recorded.

const agentTrigger = new Command('trigger')
  .description('trigger an agent (discontinued: `runctl trigger` replaces it)')
  .argument('<agentId>', 'agent ID (UUID)')
  .option('--title <text>', 'title of the run')
  .option('--message <text>', 'message to the agent')
  .option('--idempotency-key <key>', 'makes repeats safe: one key starts one run', idempotencyKey);

define(agentTrigger, {
  triggersRuns: true,
  async run([typedId], { title, message, idempotencyKey, ...options }, context) {
    const agentId = uuidOf(typedId, 'an agent id');
    const service = await connectToAgents(options, context);
    const body = JSON.stringify({ message, title });
    const answer = await service.trigger(agentId, { body, idempotencyKey }, context.signal);
    const hasKey = idempotencyKey !== undefined;
    const key = { idempotencyKey: idempotencyKey ?? null };
    if (answer.kind === 'ok') {
      const { executionId, document } = answer.value;
      const triggerInfo = { attribution: 'agent_run', ...key, isSafeToRepeat: hasKey } as const;
      return {
        outcomes: [{ kind: 'info', triggerInfo, document }],
        forPeople: { raw: executionId },
      };
    }
    const problem = triggerProblem(agentId, answer.fault, hasKey, context);
    const isInDoubt = isRunPossible(problem);
    const triggerInfo = {
      attribution: isInDoubt ? 'in_doubt' : 'no_run',
      ...key,
      isSafeToRepeat: hasKey || !isInDoubt,
    } as const;
    return { outcomes: [{ kind: 'problem', problem, triggerInfo }] };
  },
});

const agentStatus = new Command('status')
  .description("show an agent run's current status")
  .argument('<agentId>', 'agent ID (UUID)')
  .argument('<executionId>', 'run ID (UUID)');

define(agentStatus, {
  async run([typedId, typedExecution], options, context) {
    const agentId = uuidOf(typedId, 'an agent id');
    const executionId = uuidOf(typedExecution, 'an execution id');
    const service = await connectToAgents(options, context);
    const answer = await service.status({ agentId, executionId }, context.signal);
    if (answer.kind === 'fault') {
      const message = `the status of run ${executionId} of agent ${agentId} couldn't be read: ${answer.fault.message}`;
      throw agentProblem(answer.fault, message, context);
    }
    const { status, title = '', message = '', startedAt, completedAt, document } = answer.value;
    const rows: FieldRow[] = [
      ['status', sanitizeLine(status)],
      ['agent', agentId],
      ['run', executionId],
      ['title', sanitizeLine(title)],
      ['message', sanitizeLine(message)],
      ['started', startedAt && localTime(startedAt)],
      ['finished', completedAt && localTime(completedAt)],
    ];
    return {
      outcomes: [{ kind: 'info', document }],
      forPeople: { text: (theme, lines) => renderFields(rows, theme, lines) },
    };
  },
});

export const agent = new Command('agent')
  .description('use the discontinued Agent endpoints')
  .helpCommand('help [command]', 'show help for a command')
  .addCommand(agentTrigger)
  .addCommand(agentStatus);

/** A UUID in lower case. `what` names it in the message. Throws a usage problem. */
function uuidOf(text: string, what: string): string {
  if (!isUuid(text))
    throw usageProblem(
      `${quote(text)} is not ${what}`,
      'give a UUID, or leave out `agent` for an Automation',
    );
  return text.toLowerCase();
}

/** Warns at every use, as scripts that still use Agents no longer start anything. */
async function connectToAgents(options: SharedFlags, context: CommandContext) {
  const message = 'Agents are discontinued: `runctl trigger <automation>` replaces them';
  context.reporter.emit({ event: 'warning', name: 'agents_discontinued', message });
  const { http } = await openHttp(await resolveSettings(options, context), options, context);
  const { createAgentService } = await import('../service/agent-service.ts');
  return createAgentService(http);
}

function triggerProblem(
  agentId: string,
  fault: Fault,
  hasKey: boolean,
  context: CommandContext,
): Problem {
  const name = `agent ${agentId}`;
  if (deliveryOf(fault) !== 'unknown') {
    return agentProblem(fault, `no run of ${name} was started: ${fault.message}`, context);
  }
  const problem = agentProblem(
    fault,
    `the response to the trigger of ${name} was lost: ${fault.message}; a run may have been started`,
    context,
  );
  return problem.with({
    name: isInterruption(fault) ? problem.facts.name : 'outcome_unknown',
    started: 'unknown',
    hint: hasKey
      ? 'repeat the same line: its idempotency key keeps a second run from starting'
      : "look in the service for its run, and don't repeat this line, which has no `--idempotency-key`",
  });
}

function agentProblem(fault: Fault, message: string, { signal }: CommandContext): Problem {
  return new Problem({
    fault,
    name: isInterruption(fault) ? exitNameOfSignal(signal) : exitNameOfFault(fault),
    message: message + httpOf(fault),
    hint: hintOf(fault, 'add `--debug` to see the request and the response'),
  });
}
