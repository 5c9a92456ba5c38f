import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proxyFor } from '../../src/api/proxy.ts';
import { Problem } from '../../src/problems/problem.ts';
import { anyCharacter } from '../helpers/any-character.ts';

const service = 'https://service.test';
const url = 'http://proxy.test:3128';
const proxy = { origin: url, variable: 'HTTPS_PROXY' };

describe('the proxy for an origin', () => {
  test.each<[string, Record<string, string | undefined>, object | undefined]>([
    ['nothing set', {}, undefined],
    ['HTTPS_PROXY', { HTTPS_PROXY: url }, proxy],
    ['https_proxy', { https_proxy: url }, { origin: url, variable: 'https_proxy' }],
    ['lower case before upper case', { https_proxy: url, HTTPS_PROXY: 'http://other.test' }, { origin: url }],
    ['an empty https_proxy hides nothing', { https_proxy: '', HTTPS_PROXY: url }, proxy],
    ['an empty HTTPS_PROXY', { HTTPS_PROXY: '' }, undefined],
    ['HTTP_PROXY is not for https', { HTTP_PROXY: url, http_proxy: url }, undefined],
    ['ALL_PROXY', { ALL_PROXY: url }, { origin: url, variable: 'ALL_PROXY' }],
    ['all_proxy', { all_proxy: url }, { origin: url, variable: 'all_proxy' }],
    ['the special before the general', { all_proxy: 'http://other.test', HTTPS_PROXY: url }, proxy],
    ['no scheme', { HTTPS_PROXY: 'proxy.test:3128' }, proxy],
    ['no scheme, with a user', { HTTPS_PROXY: 'u:p@proxy.test:3128' }, { ...proxy, credentials: 'u:p' }],
    ['an https proxy', { HTTPS_PROXY: 'https://proxy.test' }, { origin: 'https://proxy.test' }],
    ['capitals', { HTTPS_PROXY: 'HTTP://Proxy.Test:3128' }, proxy],
    ['slashes at the end', { HTTPS_PROXY: `${url}///` }, proxy],
    ['a path', { HTTPS_PROXY: `${url}/a/b` }, proxy],
    ['a path without a scheme', { HTTPS_PROXY: 'proxy.test:3128/a' }, proxy],
    ['a query and a fragment', { HTTPS_PROXY: `${url}?a=b#c` }, proxy],
    ['blanks around it', { HTTPS_PROXY: ` ${url}\n` }, proxy],
    ['IPv6', { HTTPS_PROXY: '[::1]:3128' }, { origin: 'http://[::1]:3128' }],
    ['an encoded password', { HTTPS_PROXY: 'http://u:p%40ss@proxy.test:3128/' }, { ...proxy, credentials: 'u:p@ss' }],
    ['a user alone', { HTTPS_PROXY: 'http://u@proxy.test:3128' }, { ...proxy, credentials: 'u:' }],
    ['a password alone', { HTTPS_PROXY: 'http://:token@proxy.test:3128' }, { ...proxy, credentials: ':token' }],
  ])('%s', (_, env, expected) => {
    const found = proxyFor(service, env);
    if (expected) expect(found).toMatchObject(expected);
    else expect(found).toBeUndefined();
  });

  test('has no credentials where its address has none', () => {
    expect(proxyFor(service, { HTTPS_PROXY: url })).toEqual(proxy);
  });

  test.each([
    'http://localhost:8080',
    'https://localhost',
    'https://LOCALHOST.',
    'http://a.localhost',
    'http://127.0.0.1:8080',
    'https://127.255.0.3',
    'https://127.1',
    'http://[::1]:8080',
    'http://[::ffff:127.0.0.1]:8080',
    'https://[0:0:0:0:0:ffff:127.9.8.7]',
  ])('on this machine, %s, is none, whatever the environment says', (origin) => {
    const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
    for (const value of [url, 'socks5://proxy.test', '%']) {
      const env = Object.fromEntries(names.map((name) => [name, value]));
      expect(proxyFor(origin, { ...env, NO_PROXY: 'other.test' })).toBeUndefined();
    }
  });

  test.each(['https://localhost.test', 'https://128.0.0.1', 'https://[::2]', 'https://[::ffff:128.0.0.1]'])(
    'that is not on this machine, %s, is what the environment says',
    (origin) => expect(proxyFor(origin, { HTTPS_PROXY: url })).toMatchObject({ origin: url }),
  );

  test.each([
    ['*', service, true],
    ['a.test,*', service, true],
    ['service.test', service, true],
    ['SERVICE.Test.', service, true],
    ['service.test', `${service}.`, true],
    ['test', service, true],
    ['.service.test', 'https://a.service.test', true],
    ['*.service.test', 'https://a.service.test', true],
    ['service.test:443', service, true],
    ['service.test:8443', `${service}:8443`, true],
    ['a.test b.test service.test', service, true],
    ['a.test , service.test', service, true],
    ['::2', 'https://[::2]', true],
    ['[::2]:443', 'https://[::2]', true],
    ['10.0.0.1', 'https://10.0.0.1', true],
    ['service.test:8443', service, false],
    ['service.test:443x', service, false],
    ['x[::2]', 'https://[::2]', false],
    ['[::2]x', 'https://[::2]', false],
    [':443', service, false],
    ['[::2]:8443', 'https://[::2]', false],
    ['vice.test', service, false],
    ['a.service.test', service, false],
    ['.', service, false],
    ['', service, false],
    [',,', service, false],
  ])('with NO_PROXY=%s for %s is left out: %s', (noProxy, origin, isLeftOut) => {
    expect(proxyFor(origin, { HTTPS_PROXY: url, NO_PROXY: noProxy }) === undefined).toBe(isLeftOut);
    expect(proxyFor(origin, { HTTPS_PROXY: url, no_proxy: noProxy, NO_PROXY: '' }) === undefined).toBe(isLeftOut);
    expect(proxyFor(origin, { HTTPS_PROXY: url, no_proxy: '', NO_PROXY: noProxy }) === undefined).toBe(isLeftOut);
  });

  test('is sought in a NO_PROXY of any text without a throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (noProxy) => {
        expect(() => proxyFor(service, { HTTPS_PROXY: url, NO_PROXY: noProxy })).not.toThrow();
      }),
    );
  });

  test('is a plain origin, or refused, whatever the variable holds', () => {
    // Not `fc.webUrl`, whose escapes cost more than a second of CPU time when they are first used.
    const address = fc
      .tuple(
        fc.constantFrom('', 'http://', 'https://', 'socks5://'),
        fc.constantFrom('', 'user@', 'user:p%40ss@'),
        fc.webAuthority({ withIPv4: true, withIPv6: true, withPort: true }),
        fc.constantFrom('', '/', '/a%20b?c=%ff#d'),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(address, fc.string()), (value) => {
        let origin: string | undefined;
        try {
          origin = proxyFor(service, { HTTPS_PROXY: value })?.origin;
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
          return;
        }
        expect(origin).toBe(origin === undefined || value === '' ? undefined : new URL(origin).origin);
        if (origin === undefined) expect(value).toBe('');
      }),
    );
  });

  test.each([
    'socks5://proxy.test',
    'socks4a://u:p@proxy.test:1080',
    'SOCKS://proxy.test',
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
        return proxyFor(service, env);
      } catch (error) {
        return error;
      }
    };
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']) {
      const problem = refusal({ [name]: value });
      expect(problem).toBeInstanceOf(Problem);
      const hint = 'write it as http://host:port or http://user:password@host:port, or unset it';
      expect(problem).toMatchObject({ facts: { name: 'usage', message: expect.stringContaining(name), hint } });
      if (value.length > 3) expect((problem as Problem).message).not.toContain(value);
    }
  });
});
