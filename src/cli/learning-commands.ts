import { scenarioHelp } from './help.ts';
import { createOption, positive, whole } from './options.ts';
import type { Wire } from './wiring.ts';

export const wireEmulator: Wire = (command, { done, context }) => {
  command
    .addOption(createOption(['--port <n>', 'port (default: 0, any that is free)', whole(0, 65_535)]))
    .option('--host <address>', 'loopback address to listen on')
    .option('--scenario <name|file>', 'a built-in one, or a JSON file', 'happy')
    .addOption(createOption(['--speed <factor>', "how much faster than real time the service's clock goes", positive]))
    .option('-q, --quiet', 'do not print the requests')
    .addHelpText('after', () => scenarioHelp(context.stdout.columns))
    .action(async (rehearsed, options) => {
      const { emulator } = await import('../commands/emulator.ts');
      await done(emulator(rehearsed, options, context));
    });
};

export const wireDemo: Wire = (command, { done, context }) => {
  command.action(async () => {
    const { demo } = await import('../commands/demo.ts');
    await done(demo(context));
  });
};

export const wireExplain: Wire = (command, { done, context }) => {
  command.option('--json', 'print one JSON document').action(async (code, options) => {
    const { explain } = await import('../commands/explain.ts');
    await done(explain(code, options, context));
  });
};

export const wireCompletion: Wire = (command, { done, context }) => {
  command.action(async (shell) => {
    const { completion } = await import('../commands/completion.ts');
    await done(completion(shell, context));
  });
};
