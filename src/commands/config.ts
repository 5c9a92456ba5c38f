import { argument, defineCommand, flag, option } from '../cli/define-command.ts';
import { groupHelp } from '../cli/help.ts';
import { settingOptions } from '../cli/options.ts';
import { settingKeys } from '../config/setting-table.ts';

import { configSet, configUnset, warnOfOverrides } from './config-change.ts';
import { configGet, configList, configPath } from './config-show.ts';

const profileOptions = { profile: option('--profile <name>', 'profile to read or write') };
const json = flag('--json', 'print one JSON document');
const keyArgument = argument('<key>', settingKeys.join(', '));

const getCommand = defineCommand({
  name: 'get',
  about: 'print a setting',
  arguments: { key: keyArgument },
  options: { ...profileOptions, json },
  run: ({ key }, options, context) => configGet(key, options, context),
});

const setCommand = defineCommand({
  name: 'set',
  about: 'store a setting; `set apiKey` asks for it, or reads it from a pipe',
  arguments: { key: keyArgument, value: argument('[value]') },
  options: profileOptions,
  run: ({ key, value }, options, context) => configSet(key, value, options, context),
});

const unsetCommand = defineCommand({
  name: 'unset',
  about: 'remove a stored setting',
  arguments: { key: keyArgument },
  options: profileOptions,
  run: ({ key }, options, context) => configUnset(key, options, context),
});

const listCommand = defineCommand({
  name: 'list',
  about: 'show every setting in force and where it comes from',
  options: { json, ...settingOptions },
  run: (_, options, context) => configList(options, context),
});

const pathCommand = defineCommand({
  name: 'path',
  about: 'print the path of the config file',
  options: { json },
  run: (_, __, context) => configPath(context),
});

export const config = defineCommand({
  name: 'config',
  about: 'set up runctl: asks for the settings and checks them',
  options: profileOptions,
  examples: [
    ['runctl config', 'asks for everything that is needed, and checks it'],
    ['runctl config set apiKey < key.txt', 'stores the API key that is in a file'],
    ['runctl config set baseUrl https://staging.example.com --profile staging', 'stores a setting in another profile'],
    ['runctl config list', 'shows every setting in force and where it comes from'],
  ],
  commands: [getCommand, setCommand, unsetCommand, listCommand, pathCommand, groupHelp],
  async run(_, options, context) {
    const { askSettings, trySettings } = await import('./config-setup.ts');
    const stored = await askSettings(options, context);
    await warnOfOverrides(stored, options, context);
    return trySettings(options, context);
  },
});
