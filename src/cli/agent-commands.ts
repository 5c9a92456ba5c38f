import { checked, exitStatus, withOptions } from './options.ts';
import type { Wire } from './wiring.ts';

/** `runctl agent …`: the discontinued family. */
export const wireAgent: Wire = (agent, { done, context }) => {
  withOptions(agent.command('trigger'), 'starting', 'following', 'download', 'output', 'events', 'settings')
    .description('trigger an agent (discontinued: `runctl trigger` replaces it)')
    .argument('<agentId>', 'UUID')
    .option('--title <text>', 'title of the run')
    .option('--message <text>', 'message to the agent')
    .option('-w, --watch', 'follow the run to its end')
    .action(async (agentId, options) => {
      const { agentTrigger } = await import('../commands/agent.ts');
      await done(agentTrigger(agentId, checked(options), context));
    });
  withOptions(agent.command('status'), 'patience', 'output', 'settings')
    .description('look at an agent run once')
    .argument('<agentId>', 'UUID')
    .argument('<executionId>', 'UUID')
    .option(...exitStatus)
    .action(async (agentId, executionId, options) => {
      const { agentStatus } = await import('../commands/agent.ts');
      await done(agentStatus(agentId, executionId, checked(options), context));
    });
  withOptions(agent.command('watch'), 'following', 'download', 'output', 'events', 'settings')
    .description('follow an agent run to its end')
    .argument('<agentId>', 'UUID')
    .argument('<executionId>', 'UUID')
    .action(async (agentId, executionId, options) => {
      const { agentWatch } = await import('../commands/agent.ts');
      await done(agentWatch(agentId, executionId, checked(options), context));
    });
};
