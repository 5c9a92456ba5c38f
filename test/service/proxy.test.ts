import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FaultKind } from '../../src/run/fault.ts';
import { Problem } from '../../src/run/problem.ts';
import { networkFaultOf } from '../../src/service/network-fault.ts';
import { proxyFor } from '../../src/service/proxy.ts';
import { ProxyFailure, RefusedTunnel } from '../../src/service/proxy-fault.ts';
import { anyCharacter } from '../helpers/any-character.ts';

const service = 'https://service.test';
const url = 'http://proxy.test:3128';
const socks = { origin: 'socks5://proxy.test:1080', isSocks: true, variable: 'HTTPS_PROXY' };
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
    ['all that follows the origin', { HTTPS_PROXY: `${url}///a?b=c#d` }, proxy],
    ['a path without a scheme', { HTTPS_PROXY: 'proxy.test:3128/a' }, proxy],
    ['blanks around it', { HTTPS_PROXY: ` ${url}\n` }, proxy],
    ['SOCKS', { ALL_PROXY: 'socks5://proxy.test' }, { ...socks, variable: 'ALL_PROXY' }],
    ['SOCKS that resolves names', { HTTPS_PROXY: 'socks5h://proxy.test:1080' }, socks],
    ['SOCKS as GNOME writes it', { HTTPS_PROXY: 'socks://PROXY.test:1080/' }, socks],
    ['SOCKS at a port of HTTP', { HTTPS_PROXY: 'socks5://proxy.test:80' }, { origin: 'socks5://proxy.test:80' }],
    ['SOCKS with a user', { HTTPS_PROXY: 'socks5://u:p%40ss@proxy.test' }, { ...socks, credentials: 'u:p@ss' }],
    ['SOCKS over IPv6', { HTTPS_PROXY: 'socks5://[::1]' }, { origin: 'socks5://[::1]:1080', isSocks: true }],
    [
      'an unescaped @ in a password',
      { HTTPS_PROXY: 'http://u:p@ss@proxy.test:3128' },
      { ...proxy, credentials: 'u:p@ss' },
    ],
    ['IPv6', { HTTPS_PROXY: '[::1]:3128' }, { origin: 'http://[::1]:3128' }],
    ['an encoded password', { HTTPS_PROXY: 'http://u:p%40ss@proxy.test:3128/' }, { ...proxy, credentials: 'u:p@ss' }],
    ['a % in a password', { HTTPS_PROXY: 'http://u:5%-%41@proxy.test:3128' }, { ...proxy, credentials: 'u:5%-A' }],
    ['a user alone', { HTTPS_PROXY: 'http://u@proxy.test:3128' }, { ...proxy, credentials: 'u:' }],
    ['a password alone', { HTTPS_PROXY: 'http://:token@proxy.test:3128' }, { ...proxy, credentials: ':token' }],
  ])('%s', (_, env, expected) => {
    const found = proxyFor(service, env);
    if (expected) expect(found).toMatchObject(expected);
    else expect(found).toBeUndefined();
  });

  test('has no credentials if its URL has none', () => {
    expect(proxyFor(service, { HTTPS_PROXY: url })).toEqual(proxy);
  });

  test.each([
    'http://localhost:8080',
    'https://LOCALHOST.',
    'http://a.localhost',
    'https://127.1',
    'http://[::1]:8080',
    'http://[::ffff:127.0.0.1]:8080',
    'https://[0:0:0:0:0:ffff:127.9.8.7]',
  ])('is not used for %s on this machine, whatever the environment says', (origin) => {
    const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
    for (const value of [url, 'socks5://proxy.test', '%']) {
      const env = Object.fromEntries(names.map((name) => [name, value]));
      expect(proxyFor(origin, { ...env, NO_PROXY: 'other.test' })).toBeUndefined();
    }
  });

  test.each(['https://localhost.test', 'https://128.0.0.1', 'https://[::2]', 'https://[::ffff:128.0.0.1]'])(
    'is read from the environment for %s, which is not on this machine',
    (origin) => expect(proxyFor(origin, { HTTPS_PROXY: url })).toMatchObject({ origin: url }),
  );

  test.each([
    ['*', service, true],
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
    ['192.0.2.0/24', 'https://192.0.2.7', true],
    ['192.0.2.7/32', 'https://192.0.2.7', true],
    ['0.0.0.0/0', 'https://192.0.2.7', true],
    ['192.0.2.0/24', 'https://[::ffff:192.0.2.7]', true],
    ['2001:db8::/32', 'https://[2001:db8:1::2]', true],
    ['[2001:db8::]/32', 'https://[2001:db8:1::2]', true],
    ['2001:DB8:0:0:0:0:0:1', 'https://[2001:db8::1]', true],
    ['[2001:0db8::0001]', 'https://[2001:db8::1]', true],
    ['[2001:0db8::0001]:8443', 'https://[2001:db8::1]:8443', true],
    ['::ffff:192.0.2.0/120', 'https://192.0.2.7', true],
    ['::/0', 'https://192.0.2.7', false],
    ['192.0.2.0/24', 'https://192.0.3.7', false],
    ['192.0.2.0/24', service, false],
    ['192.0.2.0/33', 'https://192.0.2.7', false],
    ['192.0.2.0/', 'https://192.0.2.7', false],
    ['192.0.2.0/x', 'https://192.0.2.7', false],
    ['192.0.2.0/24/7', 'https://192.0.2.7', false],
    ['192.0.2/24', 'https://192.0.2.7', false],
    ['2001:db8::/129', 'https://[2001:db8::1]', false],
    ['2001:db8::/32', 'https://[2001:db9::1]', false],
    ['[2001:0db8::0001]:443', 'https://[2001:db8::1]:8443', false],
    ['0.0.0.0/0', service, false],
    ['service.test:8443', service, false],
    ['service.test:443x', service, false],
    ['x[::2]', 'https://[::2]', false],
    ['[::2]x', 'https://[::2]', false],
    [':443', service, false],
    ['vice.test', service, false],
    ['a.service.test', service, false],
    ['.', service, false],
    ['', service, false],
  ])('with NO_PROXY=%s is not used for %s: %s', (noProxy, origin, isLeftOut) => {
    expect(proxyFor(origin, { HTTPS_PROXY: url, NO_PROXY: noProxy }) === undefined).toBe(isLeftOut);
    expect(proxyFor(origin, { HTTPS_PROXY: url, no_proxy: noProxy, NO_PROXY: '' }) === undefined).toBe(isLeftOut);
    expect(proxyFor(origin, { HTTPS_PROXY: url, no_proxy: '', NO_PROXY: noProxy }) === undefined).toBe(isLeftOut);
  });

  test('is found without an error for any text in NO_PROXY', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (noProxy) => {
        expect(() => proxyFor(service, { HTTPS_PROXY: url, NO_PROXY: noProxy })).not.toThrow();
      }),
    );
  });

  test('is a plain origin, or refused, for any text in the variable', () => {
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
        const { protocol, host } = new URL(origin ?? 'http://none.test');
        expect(origin).toBe(origin && `${protocol}//${host}`);
        expect(origin === undefined).toBe(value === '');
      }),
    );
  });

  test.each([
    'socks4://proxy.test',
    'socks5://',
    'socks5://http://proxy.test',
    'ftp://proxy.test',
    'proxy.test:99999',
    'http://u:p%E4@proxy.test',
    '%',
  ])('%j is refused without being shown, because it may contain a password', (value) => {
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']) {
      const problem = refusalOf(() => proxyFor(service, { [name]: value }));
      expect(problem?.facts).toMatchObject({ name: 'usage', message: expect.stringContaining(name) });
      expect(problem?.facts.hint).toContain('http://user:password@host:port');
      // A value of one character may stand in any sentence.
      expect(value.length > 3 && JSON.stringify(problem?.facts).includes(value)).toBe(false);
    }
  });
});

describe('an unescaped character in a password of a proxy', () => {
  const passwords = ['pa#ss', '12#ss', 'pa/ss', '/pa', 'pa?ss', 'pa\\ss', '12\\ss', '#', 'a#b@c'];
  const prefixes = ['http://', 'https://', 'socks5://', 'http:/', ''];

  test.each(passwords.flatMap((password) => prefixes.map((prefix) => `${prefix}someuser:${password}@proxy.test:3128`)))(
    'is refused, and nothing is quoted: %s',
    (value) => {
      const problem = refusalOf(() => proxyFor(service, { HTTPS_PROXY: value }));
      expect(problem?.facts).toMatchObject({ name: 'usage', hint: expect.stringContaining('%23') });
      expect(JSON.stringify(problem?.facts)).not.toMatch(/someuser|proxy\.test/);
    },
  );
});

function refusalOf(act: () => unknown): Problem | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  return undefined;
}

describe('the message about a failed request through a proxy', () => {
  const attempt = { host: 'service.test', proxy: { origin: url, variable: 'https_proxy' }, timeoutMs: 1500 };
  const coded = (code: string, message = code) => Object.assign(new Error(message), { code });
  const refused = (status: number, ...challenges: string[]) => new RefusedTunnel(status, challenges);
  const socks = (what: string, message = what) => coded(`UND_ERR_SOCKS5_${what}`, message);
  const faultFor = (error: Error, wasSent = false) => networkFaultOf({ wasSent, kind: 'network', error }, attempt);
  const its = 'proxy.test:3128 (https_proxy)';

  test.each<[string, Error, FaultKind, says: string, hint: string]>([
    ['no password', refused(407), 'proxy_refused', 'wants credentials', 'http://user:password@'],
    ['no password, as tinyproxy says it', refused(401), 'proxy_refused', 'wants credentials', 'http://user:password@'],
    [
      'a scheme beside others',
      refused(407, 'NTLM', 'Basic realm="a"'),
      'proxy_refused',
      'wants',
      'http://user:password@',
    ],
    ['other schemes', refused(407, 'Negotiate', 'NTLM'), 'proxy_refused', 'only Negotiate or NTLM', 'px or cntlm'],
    [
      'two schemes in a line',
      refused(407, 'Digest realm="x, Basic y", qop="auth", NTLM'),
      'proxy_refused',
      'only Digest or NTLM',
      'cntlm',
    ],
    [
      'a SOCKS proxy that wants a password',
      socks('AUTH_REJECTED'),
      'proxy_refused',
      'wants credentials',
      'put the user',
    ],
    [
      'a SOCKS proxy that forbids it',
      socks('REPLY_2'),
      'proxy_refused',
      "doesn't allow connections to service.test",
      'NO_PROXY',
    ],
    [
      'a SOCKS proxy that cannot',
      socks('REPLY_5', 'SOCKS5 connection failed: Connection refused'),
      'unreachable',
      '(Connection refused)',
      'check https_proxy',
    ],
    ['what is no SOCKS proxy', socks('VERSION'), 'proxy_refused', "doesn't speak SOCKS5", 'check https_proxy'],
    ['a host that it may not reach', refused(403), 'proxy_refused', 'service.test', 'NO_PROXY'],
    ['a host that it does not reach', refused(502), 'unreachable', 'service.test', 'check https_proxy'],
    ['no connection to it', coded('ECONNREFUSED'), 'unreachable', 'refused', 'check https_proxy'],
    ['no address of it', coded('ENOTFOUND'), 'unreachable', 'resolve', 'check https_proxy'],
    ['its reset', coded('ECONNRESET'), 'unreachable', 'reset', 'check https_proxy'],
    ['its silence', coded('UND_ERR_HEADERS_TIMEOUT'), 'unreachable', 'never responded', 'check https_proxy'],
    [
      'what is no HTTP proxy',
      Object.assign(new Error('Expected HTTP/'), { name: 'HTTPParserError' }),
      'unreachable',
      "isn't HTTP",
      'check https_proxy',
    ],
    ['its unknown failure', new Error('something new'), 'unreachable', '(something new)', 'check https_proxy'],
    ['its certificate', coded('CERT_HAS_EXPIRED'), 'tls_handshake_failed', 'expired', 'check https_proxy'],
  ])('names the proxy: %s', (_, error, kind, says, hint) => {
    const fault = faultFor(new ProxyFailure(error));
    expect(fault).toMatchObject({ kind, message: expect.stringContaining(its), hint: expect.stringContaining(hint) });
    expect(fault.message).toContain(says);
  });

  test.each([refused(407), refused(401), coded('UND_ERR_SOCKS5_AUTH_FAILED')])(
    'says that the credentials were rejected only if there were any: %s',
    (error) => {
      const withCredentials = { ...attempt, proxy: { ...attempt.proxy, credentials: 'u:p' } };
      const saysOf = (to: typeof attempt) => {
        const { message, hint } = networkFaultOf({ wasSent: false, kind: 'network', error }, to);
        return `${message}\n${hint}`;
      };
      expect(saysOf(withCredentials)).toMatch(/rejected the credentials.*\ncheck the user name and password/);
      expect(saysOf(attempt)).toMatch(/wants credentials.*\nput the user and password into/);
    },
  );

  test('names the proxy if it refused the tunnel, or if the time to connect passed', () => {
    expect(faultFor(refused(403))).toMatchObject({ kind: 'proxy_refused' });
    const late = networkFaultOf({ wasSent: false, kind: 'deadline' }, attempt);
    expect([late.message.includes('service.test'), late.message.includes(its)]).toEqual([true, true]);
    expect(late.hint).toContain('check https_proxy');
  });

  test.each([
    ['the certificate of the service', coded('CERT_HAS_EXPIRED'), false],
    ['a reset by the service', coded('ECONNRESET'), true],
  ])('does not name the proxy if the tunnel was open: %s', (_, error, sent) => {
    const { message, hint } = faultFor(error, sent);
    expect(message).toContain('service.test');
    expect(`${message} ${hint}`).not.toContain('https_proxy');
  });
});
