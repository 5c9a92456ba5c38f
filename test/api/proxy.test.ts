import { describe, expect, test } from 'vitest';
import { credentialsOf, proxyFor } from '../../src/api/proxy.ts';
import { Problem } from '../../src/problems/problem.ts';

const https = 'https://service.test';
const http = 'http://127.0.0.1:8080';
const url = 'http://proxy.test:3128';

describe('the proxy for an origin', () => {
  test.each<[string, string, Record<string, string | undefined>, string | undefined]>([
    ['nothing set', https, {}, undefined],
    ['HTTPS_PROXY', https, { HTTPS_PROXY: url }, url],
    ['https_proxy', https, { https_proxy: url }, url],
    ['lower case before upper case', https, { https_proxy: url, HTTPS_PROXY: 'http://other.test' }, url],
    ['an empty https_proxy hides nothing', https, { https_proxy: '', HTTPS_PROXY: url }, url],
    ['an empty HTTPS_PROXY', https, { HTTPS_PROXY: '' }, undefined],
    ['HTTP_PROXY is not for https', https, { HTTP_PROXY: url }, undefined],
    ['HTTPS_PROXY is not for http', http, { HTTPS_PROXY: url }, undefined],
    ['HTTP_PROXY', http, { HTTP_PROXY: url }, url],
    ['http_proxy', http, { http_proxy: url }, url],
    ['ALL_PROXY', https, { ALL_PROXY: url }, url],
    ['the special before the general', https, { all_proxy: 'http://other.test', HTTPS_PROXY: url }, url],
    ['no scheme', https, { HTTPS_PROXY: 'proxy.test:3128' }, url],
    ['no scheme, with a user', https, { HTTPS_PROXY: 'u:p@proxy.test' }, 'http://u:p@proxy.test'],
    ['an https proxy', https, { HTTPS_PROXY: 'https://proxy.test' }, 'https://proxy.test'],
    ['an encoded password', https, { HTTPS_PROXY: 'http://u:p%40ss@proxy.test' }, 'http://u:p%40ss@proxy.test'],
  ])('%s', (_, origin, env, expected) => expect(proxyFor(origin, env)?.url).toBe(expected));

  test.each<[Record<string, string>, string]>([
    [{}, ''],
    [{ NO_PROXY: 'a.test,b.test' }, 'a.test,b.test'],
    [{ no_proxy: '*' }, '*'],
    [{ no_proxy: '', NO_PROXY: 'a.test' }, 'a.test'],
  ])('comes with the exceptions of %j', (env, noProxy) => {
    expect(proxyFor(https, { HTTPS_PROXY: url, ...env })).toEqual({ url, noProxy });
  });

  test.each([
    ['http://proxy.test', undefined],
    ['http://user:p%40ss@proxy.test', 'user:p@ss'],
    ['http://user@proxy.test', 'user:'],
    ['http://:token@proxy.test', ':token'],
  ])('%s gives the credentials %s', (proxyUrl, expected) => {
    expect(credentialsOf({ url: proxyUrl, noProxy: '' })).toBe(expected);
  });

  test.each([
    'socks5://proxy.test',
    'ftp://proxy.test',
    '://',
    'http://',
    'proxy test',
    'proxy.test:99999',
    'http:proxy.test:3128',
    'http://u:p%ss@proxy.test',
    '%',
  ])('%j is refused by name, and is not shown: it may hold a password', (value) => {
    const refusal = (env: Record<string, string>) => {
      try {
        return proxyFor(https, env);
      } catch (error) {
        return error;
      }
    };
    for (const name of ['HTTPS_PROXY', 'ALL_PROXY']) {
      const problem = refusal({ [name]: value });
      expect(problem).toBeInstanceOf(Problem);
      expect(problem).toMatchObject({ facts: { name: 'usage', message: expect.stringContaining(name) } });
      if (value.length > 3) expect((problem as Problem).message).not.toContain(value);
    }
  });
});
