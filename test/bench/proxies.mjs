// `npm run stress -- proxies`: the built program through the proxies that companies run, tinyproxy and squid, to a service
// behind TLS with an authority of its own, and around them to one on loopback. Prints a table; exit 1 on a wrong cell.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Transform } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { buildSync } from 'esbuild';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'runctl-proxies-'));
// Squid gives up root for a user of its own.
chmodSync(folder, 0o755);
const user = 'user';
const password = 'p4ss-of-the-proxy';

const proxies = {
  tinyproxy: {
    config: (port, wantsPassword) => `
      Port ${port}
      Listen 127.0.0.1
      Allow 127.0.0.1
      MaxClients 20
      Timeout 20
      ${wantsPassword ? `BasicAuth ${user} ${password}` : ''}`,
    args: (file) => ['-d', '-c', file],
  },
  squid: {
    config: (port, wantsPassword) => `
      http_port 127.0.0.1:${port}
      pid_filename none
      access_log none
      cache_log /dev/null
      cache deny all
      coredump_dir ${folder}
      visible_hostname localhost
      shutdown_lifetime 0 seconds
      ${
        wantsPassword
          ? `auth_param basic program ${script('asked.sh', `while read -r line; do [ "$line" = "${user} ${password}" ] && echo OK || echo ERR; done`)}
      acl known proxy_auth REQUIRED
      http_access allow known`
          : 'http_access allow all'
      }
      http_access deny all`,
    args: (file) => ['-N', '-f', file],
  },
};

const good = { code: 0 };
const refused = { code: 10, says: /\(https_proxy\) rejected the credentials \(40[17]\)/ };
const right = `${user}:${password}@`;
const wrong = `${user}:wrong@`;

// What the proxy wants, what it is given, where to; and what must come of it.
const cells = [
  ['nothing', '', 'https', good],
  ['nothing', '', 'loopback', good],
  ['nothing', right, 'https', good],
  ['nothing', '', 'https, certificate unknown', { code: 10, says: /NODE_EXTRA_CA_CERTS/ }],
  [
    'nothing',
    '',
    'https, nobody there',
    { code: 10, says: /\(https_proxy\) did not connect to 0\.0\.0\.0:\d+ \(5\d\d\)/ },
  ],
  ['a password', right, 'https', good],
  ['a password', wrong, 'loopback', good],
  ['a password', wrong, 'https', refused],
  ['a password', `${user}@`, 'https', refused],
  ['a password', '', 'https', refused],
];

const processes = [];
let flawed = 0;
try {
  const present = Object.keys(proxies).filter(isInstalled);
  const missing = Object.keys(proxies).filter((name) => !present.includes(name));
  if (missing.length > 0) console.log(`not installed: ${missing.join(', ')} (apt-get install ${missing.join(' ')})`);
  if (present.length === 0) flawed += 1;

  const service = await startService();
  const rows = [];
  for (const name of present) {
    for (const wants of ['nothing', 'a password']) {
      const proxy = await startProxy(name, wants === 'a password');
      for (const cell of cells.filter(([candidate]) => candidate === wants)) {
        rows.push(await tryCell(name, cell, proxy, service));
      }
    }
  }
  console.table(rows);
  flawed += rows.filter(({ verdict }) => verdict !== 'good').length;
} finally {
  for (const process of processes) process.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
process.exit(flawed > 0 ? 1 : 0);

async function tryCell(name, [wants, given, to, { code, says }], proxy, service) {
  const from = { lines: proxy.lines.length, runs: service.runs() };
  const startMs = performance.now();
  const ended = await run(['trigger', 'nightly', '--watch', '--interval', '20ms', '--give-up-after', '1s', '--json'], {
    RUNCTL_BASE_URL: service.addresses[to],
    RUNCTL_API_KEY: 'key-of-the-emulator',
    RUNCTL_PROJECT: '00000000-0000-4000-8000-000000000001',
    RUNCTL_STATE_DIR: mkdtempSync(join(folder, 'state-')),
    RUNCTL_CONFIG_DIR: join(folder, 'config'),
    ...(to === 'https' && { NODE_EXTRA_CA_CERTS: service.authority }),
    http_proxy: `http://${given}127.0.0.1:${proxy.port}`,
    https_proxy: `http://${given}127.0.0.1:${proxy.port}`,
  });
  const seen = new Set(proxy.lines.slice(from.lines).map((line) => line.split(' ')[0]));
  const wanted = to === 'loopback' ? '' : 'CONNECT';
  const runs = service.runs() - from.runs;
  const flaws = [
    ended.code !== code && `exit ${ended.code}`,
    runs !== (code === 0 ? 1 : 0) && `${runs} runs`,
    [...seen].sort().join(' ') !== wanted && `the proxy saw ${[...seen].join(' ') || 'nothing'}`,
    says && !says.test(ended.stderr) && ended.stderr.trim(),
    (ended.stderr + ended.stdout).includes(password) && 'the password was shown',
  ].filter(Boolean);
  return {
    proxy: name,
    wants,
    given: given ? given.replace(password, '****').replace('@', '') : 'nothing',
    to,
    by: wanted || 'nothing',
    exit: ended.code,
    ms: Math.round(performance.now() - startMs),
    verdict: flaws.join('; ') || 'good',
  };
}

/** The emulator on loopback, and behind TLS at an address that is not called loopback, though it leads there: with a certificate of the authority in a file, and with one of nobody. */
async function startService() {
  const outfile = join(folder, 'service.mjs');
  const contents = `
    export { startEmulator } from './src/emulator/server.ts';
    export { createAuthority, createCertificate } from './test/helpers/certificates.ts';`;
  const options = { bundle: true, platform: 'node', format: 'esm', logLevel: 'error' };
  buildSync({ stdin: { contents, resolveDir: root }, outfile, ...options });
  const { startEmulator, createAuthority, createCertificate } = await import(outfile);
  const scenario = { automations: { '*': { duration: '1ms' } } };
  const emulator = await startEmulator({ scenario, apiKey: 'key-of-the-emulator' });
  const hosts = ['0.0.0.0'];
  const issuer = createAuthority('authority of the proxies');
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, issuer.cert);
  const behindTls = async (certificate) => {
    const server = createTlsServer(certificate, (socket) => {
      socket.on('error', () => {});
      const toEmulator = connect(emulator.port, '127.0.0.1').on('error', () => {});
      socket.pipe(hostOfLoopback()).pipe(toEmulator).pipe(socket);
    });
    server.on('tlsClientError', () => {});
    return `https://0.0.0.0:${await listen(server)}`;
  };
  return {
    authority,
    runs: () => emulator.runs().length,
    addresses: {
      loopback: emulator.url,
      https: await behindTls(createCertificate({ issuer, hosts })),
      'https, certificate unknown': await behindTls(createCertificate({ issuer: createAuthority('nobody'), hosts })),
      'https, nobody there': `https://0.0.0.0:${await freePort()}`,
    },
  };
}

/** The emulator answers only requests that name a loopback host. */
function hostOfLoopback() {
  return new Transform({
    transform: (chunk, _, done) =>
      done(null, chunk.toString('latin1').replace(/^host: 0\.0\.0\.0/im, 'host: 127.0.0.1')),
  });
}

/** A real proxy, and before it a relay that notes the first line of every request of a connection. */
async function startProxy(name, wantsPassword) {
  const port = await freePort();
  const file = join(folder, `${name}-${wantsPassword}.conf`);
  const { config, args } = proxies[name];
  writeFileSync(file, config(port, wantsPassword).replace(/^ +/gm, ''));
  const child = spawn(name, args(file), { stdio: ['ignore', 'ignore', 'inherit'] });
  processes.push(child);
  await untilOpen(port);
  const lines = [];
  const relay = createServer((client) => {
    const proxy = connect(port, '127.0.0.1');
    client.on('data', (chunk) => {
      const line = /^(CONNECT|GET|POST) \S+ HTTP\/1\.1\r\n/.exec(chunk.toString('latin1'));
      if (line) lines.push(line[0]);
    });
    for (const [socket, other] of [
      [client, proxy],
      [proxy, client],
    ]) {
      socket.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
    client.pipe(proxy).pipe(client);
  });
  return { port: await listen(relay), lines };
}

async function untilOpen(port) {
  for (let n = 0; n < 100; n++) {
    const socket = connect(port, '127.0.0.1');
    const open = await new Promise((resolve) => {
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    });
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the proxy does not start');
}

async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

async function freePort() {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

function script(name, text) {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

function isInstalled(name) {
  return (process.env.PATH ?? '').split(delimiter).some((place) => {
    try {
      accessSync(join(place, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

async function run(args, env) {
  const child = spawn(process.execPath, [join(root, 'bin/runctl.js'), ...args], { env });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (texts[name] += text));
  const [code] = await once(child, 'close');
  return { code, ...texts };
}
