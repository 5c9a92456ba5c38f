import { Option } from 'commander';
import { settingKeys } from '../config/setting-table.ts';
import { usageProblem } from '../problems/problem.ts';
import { withOptions } from './options.ts';
import type { Wire } from './wiring.ts';

/** `runctl config …`, and alone. */
export const wireConfig: Wire = (config, { done, context }) => {
  const profile = () => new Option('--profile <name>', 'profile to read or write');
  config
    .addOption(profile())
    .helpCommand('help [command]', 'show the help of a command')
    .allowExcessArguments()
    .action(async (options, { args: [unknown] }) => {
      if (unknown !== undefined)
        throw usageProblem(`unknown command 'config ${unknown}'`, 'see `runctl config --help`');
      const { configGuide } = await import('../commands/config-setup.ts');
      await done(configGuide(options, context));
    });
  const json = () => new Option('--json', 'print one JSON document');
  config
    .command('get')
    .argument('<key>', settingKeys.join(', '))
    .description('print a setting')
    .addOption(profile())
    .addOption(json())
    .action(async (key, _, command) => {
      const { configGet } = await import('../commands/config.ts');
      await done(configGet(key, command.optsWithGlobals(), context));
    });
  config
    .command('set')
    .argument('<key>', settingKeys.join(', '))
    .argument('[value]')
    .description('store a setting; `set apiKey` asks for it, or reads it from a pipe')
    .addOption(profile())
    .action(async (key, value, _, command) => {
      const { configSet } = await import('../commands/config.ts');
      await done(configSet(key, value, command.optsWithGlobals(), context));
    });
  config
    .command('unset')
    .argument('<key>', settingKeys.join(', '))
    .description('remove a stored setting')
    .addOption(profile())
    .action(async (key, _, command) => {
      const { configUnset } = await import('../commands/config.ts');
      await done(configUnset(key, command.optsWithGlobals(), context));
    });
  withOptions(config.command('list'), 'settings')
    .description('show every setting in force and where it comes from')
    .addOption(json())
    .action(async (_, command) => {
      const { configList } = await import('../commands/config.ts');
      await done(configList(command.optsWithGlobals(), context));
    });
  config
    .command('path')
    .description('print the path of the config file')
    .addOption(json())
    .action(async (_, command) => {
      const { configPath } = await import('../commands/config.ts');
      await done(configPath(command.optsWithGlobals(), context));
    });
};
