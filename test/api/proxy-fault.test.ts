import { describe, expect, test } from 'vitest';
import { faultOf } from '../../src/api/network-fault.ts';
import { ProxyFailure } from '../../src/api/proxy.ts';
import type { FaultKind } from '../../src/runs/fault.ts';

const proxy = { origin: 'http://proxy.test:3128', variable: 'https_proxy' };
const name = 'the proxy proxy.test:3128 (https_proxy)';
const attempt = { host: 'service.test', proxy, timeoutMs: 1500 };

const coded = (code: string, message = code) => Object.assign(new Error(message), { code });
const refused = (status: number) => coded('UND_ERR_ABORTED', `Proxy response (${status}) !== 200 when HTTP Tunneling`);
const faultFor = (error: Error, sent = false) => faultOf({ sent, reason: 'network', error }, attempt);

describe('through a proxy', () => {
  test.each<[string, Error, FaultKind, string, string]>([
    [
      '407',
      refused(407),
      'proxy_refused',
      `${name} rejected the credentials (407)`,
      'password into https_proxy as http://',
    ],
    [
      '401',
      refused(401),
      'proxy_refused',
      `${name} rejected the credentials (401)`,
      'password into https_proxy as http://',
    ],
    ['403', refused(403), 'proxy_refused', `${name} doesn't allow connections to service.test (403)`, 'NO_PROXY'],
    ['502', refused(502), 'unreachable', `${name} did not connect to service.test (502)`, 'check https_proxy'],
    [
      'refused',
      coded('ECONNREFUSED'),
      'unreachable',
      `can't connect to ${name}: connection refused`,
      'check https_proxy',
    ],
    ['an unknown name', coded('ENOTFOUND'), 'unreachable', `can't resolve ${name}`, 'check https_proxy'],
    ['reset', coded('ECONNRESET'), 'unreachable', `${name} reset the connection`, 'check https_proxy'],
    [
      'a hang',
      coded('UND_ERR_HEADERS_TIMEOUT'),
      'unreachable',
      `${name} accepted the connection but never responded`,
      '',
    ],
    [
      'its certificate',
      coded('CERT_HAS_EXPIRED'),
      'untrusted',
      `the certificate for ${name} has expired`,
      'https_proxy',
    ],
  ])('what fails at the proxy is its failure: %s', (_, error, kind, message, hint) => {
    const fault = faultFor(new ProxyFailure(error));
    expect(fault).toMatchObject({ kind, message, hint: expect.stringContaining(hint) });
  });

  test('a refused tunnel needs no other mark', () => {
    expect(faultFor(refused(403))).toMatchObject({ kind: 'proxy_refused' });
  });

  test('a connection that takes too long names the way', () => {
    const { message } = faultOf({ sent: false, reason: 'deadline' }, attempt);
    expect(message).toBe(`no connection to service.test through ${name} within 1.5s`);
  });

  test.each([
    [coded('CERT_HAS_EXPIRED'), false, 'the certificate for service.test has expired'],
    [coded('ECONNRESET'), true, 'service.test reset the connection before it responded'],
  ])('what fails behind the tunnel is not its failure', (error, sent, message) => {
    const fault = faultFor(error, sent);
    expect(fault.message).toBe(message);
    expect(fault.hint ?? '').not.toContain('https_proxy');
  });
});
