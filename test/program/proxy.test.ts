import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { startProxy } from '../helpers/proxies.ts';
import { runProgram } from '../helpers/run-program.ts';

const variables = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];

test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])(
  'a service at %s is reached without the proxy that every variable names',
  async (host) => {
    const emulated = await withEmulator({ automations: { '*': { duration: '1ms' } } });
    const { emulator } = emulated;
    const proxy = await startProxy();
    const proxies = Object.fromEntries(variables.map((name) => [name, proxy.url]));
    const baseUrl = emulator.url.replace('127.0.0.1', host);
    const env = {
      ...emulated.env,
      ...proxies,
      NO_PROXY: 'other.test',
      RUNCTL_BASE_URL: baseUrl,
    };
    const { code, stderr } = await runProgram(['trigger', 'nightly', '--watch', '--interval', '20ms'], { env });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(emulator.requests.length).toBeGreaterThan(2);
    expect(proxy.requests).toEqual([]);
  },
);

test('a proxy that is not http is refused before anything is sent, and its variable is named', async () => {
  const emulated = await withEmulator({});
  const env = {
    ...emulated.env,
    RUNCTL_BASE_URL: 'https://service.test',
    https_proxy: 'socks5://localhost',
  };
  const { code, stderr } = await runProgram(['trigger', 'nightly'], { env });
  expect(code).toBe(2);
  expect(stderr).toContain('the proxy address in https_proxy is not an http or https URL');
});

test('what fails at the proxy names it and its variable', async () => {
  const emulated = await withEmulator({});
  const proxy = await startProxy({ refuse: 403 });
  const env = {
    ...emulated.env,
    RUNCTL_BASE_URL: 'https://service.test',
    HTTPS_PROXY: proxy.url,
  };
  const { code, stderr } = await runProgram(['trigger', 'nightly'], { env });
  expect(code).toBe(10);
  expect(stderr).toContain(`${new URL(proxy.url).host} (HTTPS_PROXY) doesn't allow connections to service.test (403)`);
});
