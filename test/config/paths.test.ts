import { describe, expect, test } from 'vitest';
import { findConfigFolder, findStateFolder, resolveConfigFile } from '../../src/config/paths.ts';

describe('the folders', () => {
  test.each([
    [
      'RUNCTL_CONFIG_DIR before all else',
      { RUNCTL_CONFIG_DIR: '/own', XDG_CONFIG_HOME: '/xdg', HOME: '/h' },
      'linux',
      '/own',
    ],
    ['the XDG folder', { XDG_CONFIG_HOME: '/xdg', HOME: '/h' }, 'linux', '/xdg/runctl'],
    ['the home where the XDG path is relative', { XDG_CONFIG_HOME: 'xdg', HOME: '/h' }, 'linux', '/h/.config/runctl'],
    [
      'the home where the variables are empty',
      { RUNCTL_CONFIG_DIR: '', XDG_CONFIG_HOME: '', HOME: '/h' },
      'linux',
      '/h/.config/runctl',
    ],
    ['the XDG layout on macOS', { HOME: '/Users/u' }, 'darwin', '/Users/u/.config/runctl'],
    ['nothing without a home', {}, 'linux', undefined],
    ['nothing with a relative home', { HOME: '.' }, 'linux', undefined],
    ['APPDATA on Windows', { APPDATA: 'C:\\u\\r', USERPROFILE: 'C:\\u' }, 'win32', 'C:\\u\\r\\runctl'],
    ['the user profile on Windows', { USERPROFILE: 'C:\\u' }, 'win32', 'C:\\u\\AppData\\Roaming\\runctl'],
  ] as const)('of the config is %s', (_, env, system, path) => {
    expect(findConfigFolder(env, system)?.value).toBe(path);
  });

  test.each([
    [
      'RUNCTL_STATE_DIR before all else',
      { RUNCTL_STATE_DIR: '/own', XDG_STATE_HOME: '/xdg', HOME: '/h' },
      'linux',
      '/own',
    ],
    ['the XDG folder', { XDG_STATE_HOME: '/xdg', HOME: '/h' }, 'linux', '/xdg/runctl'],
    ['the home', { HOME: '/h' }, 'linux', '/h/.local/state/runctl'],
    ['LOCALAPPDATA on Windows', { LOCALAPPDATA: 'C:\\u\\l' }, 'win32', 'C:\\u\\l\\runctl'],
    ['nothing without a home', {}, 'darwin', undefined],
  ] as const)('of the state is %s', (_, env, system, path) => {
    expect(findStateFolder(env, system)?.value).toBe(path);
  });

  test('a folder knows the variable it comes from', () => {
    expect(findConfigFolder({ HOME: '/h' }, 'linux')?.source).toBe('HOME');
    expect(findConfigFolder({ XDG_CONFIG_HOME: '/x', HOME: '/h' }, 'linux')?.source).toBe('XDG_CONFIG_HOME');
  });

  test('the config file is config.json in its folder', () => {
    expect(resolveConfigFile({ HOME: '/h' }, 'linux')).toBe('/h/.config/runctl/config.json');
    expect(resolveConfigFile({}, 'linux')).toBeUndefined();
  });
});
