import { describe, expect, test } from 'vitest';
import { findConfigFolder, findStateFolder, resolveConfigFile } from '../../src/settings/folders.ts';

describe('the folder', () => {
  test.each([
    ['RUNCTL_CONFIG_DIR before all else', { RUNCTL_CONFIG_DIR: '/own', XDG_CONFIG_HOME: '/xdg', HOME: '/h' }, '/own'],
    ['the XDG folder', { XDG_CONFIG_HOME: '/xdg', HOME: '/h' }, '/xdg/runctl'],
    ['the home where the XDG path is relative', { XDG_CONFIG_HOME: 'xdg', HOME: '/h' }, '/h/.config/runctl'],
    [
      'the home where the variables are empty',
      { RUNCTL_CONFIG_DIR: '', XDG_CONFIG_HOME: '', HOME: '/h' },
      '/h/.config/runctl',
    ],
    ['nothing without a home', {}, undefined],
    ['nothing with a relative home', { HOME: '.' }, undefined],
  ] as const)('of the config is %s', (_, env, path) => {
    expect(findConfigFolder(env)?.value).toBe(path);
  });

  test.each([
    ['RUNCTL_STATE_DIR before all else', { RUNCTL_STATE_DIR: '/own', XDG_STATE_HOME: '/xdg', HOME: '/h' }, '/own'],
    ['the XDG folder', { XDG_STATE_HOME: '/xdg', HOME: '/h' }, '/xdg/runctl'],
    ['the home', { HOME: '/h' }, '/h/.local/state/runctl'],
    ['nothing without a home', {}, undefined],
  ] as const)('of the state is %s', (_, env, path) => {
    expect(findStateFolder(env)?.value).toBe(path);
  });

  test.each([
    ['RUNCTL_STATE_DIR', '/state\r', 'carriage return'],
    ['RUNCTL_STATE_DIR', '"/state"', 'quotes around it'],
    ['RUNCTL_STATE_DIR', '/state ', 'space'],
    ['RUNCTL_STATE_DIR', '/sta\tte', 'control character'],
    ['RUNCTL_STATE_DIR', 'RUNCTL_STATE_DIR=/state', 'env file'],
    ['RUNCTL_STATE_DIR', 'state', 'absolute'],
    ['XDG_STATE_HOME', '/xdg\r', 'carriage return'],
    ['HOME', '/home/me\r', 'carriage return'],
  ])('of %s=%j is refused: %s', (variable, path, why) => {
    expect(() => findStateFolder({ [variable]: path })).toThrow(why);
    expect(() => findStateFolder({ [variable]: path })).toThrow(variable);
  });

  test('has the variable that it comes from as its source', () => {
    expect(findConfigFolder({ HOME: '/h' })?.source).toBe('HOME');
    expect(findConfigFolder({ XDG_CONFIG_HOME: '/x', HOME: '/h' })?.source).toBe('XDG_CONFIG_HOME');
  });

  test('of the config is where config.json is', () => {
    expect(resolveConfigFile({ HOME: '/h' })).toBe('/h/.config/runctl/config.json');
    expect(resolveConfigFile({})).toBeUndefined();
  });
});
