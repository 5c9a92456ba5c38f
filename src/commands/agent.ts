import { followAll } from '../actions/follow-all.ts';
import { planOf } from '../actions/plan.ts';
import { triggerAll } from '../actions/trigger-all.ts';
import { argument, type CommandDefinition, defineCommand, flag, option } from '../cli/define-command.ts';
import { groupHelp } from '../cli/help-text.ts';
import {
  exitStatus,
  followOptions,
  giveUpOptions,
  outputOptions,
  settingOptions,
  startOptions,
} from '../cli/options.ts';
import { parseUuidArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { Invocation } from '../context.ts';
import type { AgentTarget, Run } from '../runs/run.ts';
import { showStatus } from './status.ts';

const agentId = argument('<agentId>', 'UUID');
const executionId = argument('<executionId>', 'UUID');

const agentTrigger = defineCommand({
  name: 'trigger',
  starts: true,
  about: 'trigger an agent (discontinued: `runctl trigger` replaces it)',
  arguments: { agentId },
  options: {
    watch: flag('-w, --watch', 'watch the run until it is finished'),
    title: option('--title <text>', 'title of the run'),
    message: option('--message <text>', 'message to the agent'),
    ...startOptions,
  },
  async run({ agentId }, options, context) {
    const target = agentTarget(agentId);
    warnOfEnd(context);
    const { title, message } = options;
    const body = JSON.stringify({ message, title });
    return triggerAll(
      [{ target, body, idempotencyKey: options.idempotencyKey }],
      planOf(options, 'trigger'),
      await connect(options, context, { quiet: false }),
    );
  },
});

const agentStatus = defineCommand({
  name: 'status',
  about: "show an agent run's current status",
  arguments: { agentId, executionId },
  options: { exitStatus, ...giveUpOptions, ...outputOptions, ...settingOptions },
  async run(args, options, context) {
    const run = agentRun(args);
    warnOfEnd(context);
    return showStatus({ run }, options, await connect(options, context));
  },
});

const agentWatch = defineCommand({
  name: 'watch',
  about: 'watch an agent run until it is finished',
  arguments: { agentId, executionId },
  options: followOptions,
  async run(args, options, context) {
    const run = agentRun(args);
    warnOfEnd(context);
    return followAll([{ run }], planOf(options, 'watch'), await connect(options, context));
  },
});

export const agent: CommandDefinition = {
  name: 'agent',
  about: 'use the discontinued Agent endpoints (`runctl trigger` replaces them)',
  commands: [agentTrigger, agentStatus, agentWatch, groupHelp],
};

function agentRun({ agentId, executionId }: { agentId: string; executionId: string }): Run {
  return { target: agentTarget(agentId), executionId: parseUuidArgument(executionId, 'an execution id') };
}

function agentTarget(agentId: string): AgentTarget {
  return { family: 'agent', agentId: parseUuidArgument(agentId, 'an agent id') };
}

/** Warns at every use, as scripts that still use Agents no longer start anything. */
function warnOfEnd({ reporter }: Invocation): void {
  const message = 'Agents are discontinued: `runctl trigger <automation>` replaces them';
  reporter.observe({ event: 'warning', name: 'agents_discontinued', message });
}
