import { expect, test } from 'vitest';
import { withMachine } from '../helpers/machine.ts';
import { startProxy } from '../helpers/proxies.ts';

const variables = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
const beyond = { RUNCTL_BASE_URL: 'https://service.test' };

test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])(
  'a service at %s is reached without the proxy that every variable names',
  async (host) => {
    const { run, emulator } = await withMachine();
    const proxy = await startProxy();
    const proxies = Object.fromEntries(variables.map((name) => [name, proxy.url]));
    const baseUrl = emulator.url.replace('127.0.0.1', host);
    const env = { ...proxies, NO_PROXY: 'other.test', RUNCTL_BASE_URL: baseUrl };
    const { code, stderr } = await run('trigger nightly --watch', { env });
    expect(code, stderr).toBe(0);
    expect([emulator.requests.length > 2, proxy.requests]).toEqual([true, []]);
  },
);

test('a proxy that is not http is refused before anything is sent, and its variable is named', async () => {
  const { run } = await withMachine();
  const { code, stderr } = await run('trigger nightly', { env: { ...beyond, https_proxy: 'socks5://localhost' } });
  expect([code, stderr]).toEqual([2, expect.stringContaining('https_proxy')]);
});

test('what fails at the proxy names it, its variable, and the host', async () => {
  const { run } = await withMachine();
  const { url } = await startProxy({ refuse: 403 });
  const { code, stderr } = await run('trigger nightly', { env: { ...beyond, HTTPS_PROXY: url } });
  expect(code).toBe(10);
  expect(stderr).toMatch(new RegExp(`${new URL(url).host} \\(HTTPS_PROXY\\) .*service\\.test \\(403\\)`));
});
