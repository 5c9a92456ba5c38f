// A process of its own that puts TLS, and a distance, before a service on loopback; `startDistantService` starts it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { build } from 'esbuild';

/** Ports of the same service over TLS: beside it, and at this round trip. `ca` is the certificate to trust. */
export async function startDistantService(port, roundTripMs, folder) {
  const outfile = join(folder, 'certificates.cjs');
  const source = join(import.meta.dirname, '../helpers/certificates.ts');
  await build({ entryPoints: [source], outfile, bundle: true, platform: 'node', format: 'cjs' });
  const { default: certificates } = await import(outfile);
  const issuer = certificates.createAuthority('authority of the benchmarks');
  const { cert, key } = certificates.createCertificate({ issuer });
  const child = fork(import.meta.filename);
  child.send({ port, roundTripMs, cert, key });
  const [ports] = await once(child, 'message');
  return { ...ports, ca: issuer.cert, close: () => child.kill() };
}

/** Both ways, each chunk after the delay. The handshake of TCP itself is the kernel's, and not delayed. */
function link(one, other, delayMs) {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ]) {
    from.setNoDelay?.(true);
    from.on('data', (chunk) => setTimeout(() => to.write(chunk), delayMs));
    from.on('end', () => setTimeout(() => to.end(), delayMs));
    from.on('error', () => to.destroy());
  }
}

async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

process.once('message', async ({ port, roundTripMs, cert, key }) => {
  const near = await listen(createTlsServer({ cert, key }, (socket) => link(socket, connect(port, '127.0.0.1'), 0)));
  const far = await listen(createServer((socket) => link(socket, connect(near, '127.0.0.1'), roundTripMs / 2)));
  process.send({ near, far });
});
