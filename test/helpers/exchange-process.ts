import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';
import type { TransportOptions } from '../../src/api/transport.ts';
import type { Fault } from '../../src/runs/fault.ts';
import { ampleLimitMs } from './real-time.ts';

export interface ExchangeOrder extends Partial<TransportOptions> {
  origin: string;
  method?: 'GET' | 'POST';
  /** Ample by default. */
  timeoutMs?: number;
  /** The process stays for so long after the exchange. */
  lingerMs?: number;
}

export interface ExchangeReport {
  status?: number;
  body?: string;
  sent?: boolean;
  fault?: Fault;
  /** From the start of the exchange to its end. */
  tookMs: number;
  /** From then to the end of the process, which nothing ends but an idle event loop. */
  lastedMs: number;
}

const program = `
  import { faultOf } from './src/api/network-fault.ts';
  import { createTransport } from './src/api/transport.ts';
  const { method = 'POST', timeoutMs = ${ampleLimitMs}, lingerMs = 0, ...options } = JSON.parse(process.argv[2]);
  const transport = createTransport({ connections: 2, connectTimeoutMs: timeoutMs, ...options });
  const startMs = performance.now();
  const request = { method, path: '/v0/x', headers: {}, body: method === 'POST' ? '{}' : undefined, timeoutMs, maxBytes: 1000 };
  transport.exchange(request, new AbortController().signal).then(({ response, failure }) => {
    const tookMs = performance.now() - startMs;
    const host = new URL(options.origin).host;
    const report = response
      ? { status: response.status, body: response.body.toString(), tookMs }
      : { sent: failure.sent, fault: faultOf(failure, { host, timeoutMs, proxy: options.proxy }), tookMs };
    console.log(JSON.stringify(report));
    if (lingerMs > 0) setTimeout(() => transport.destroy(), lingerMs);
    else transport.destroy();
  });
`;

let bundle: Promise<string> | undefined;

async function bundled(): Promise<string> {
  const stdin = { contents: program, resolveDir: join(import.meta.dirname, '../..'), loader: 'ts' as const };
  const { outputFiles } = await build({ stdin, bundle: true, platform: 'node', format: 'cjs', write: false });
  return outputFiles[0]?.text ?? '';
}

/** One exchange in a process of its own: certificates are trusted by the environment, and a process shows what holds it. */
export async function exchangeInProcess(order: ExchangeOrder, trusted?: string): Promise<ExchangeReport> {
  bundle ??= bundled();
  const code = await bundle;
  const folder = mkdtempSync(join(tmpdir(), 'runctl-exchange-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [script, authority] = [join(folder, 'exchange.cjs'), join(folder, 'authority.pem')];
  writeFileSync(script, code);
  if (trusted) writeFileSync(authority, trusted);
  const env = trusted ? { NODE_EXTRA_CA_CERTS: authority } : {};
  const child = spawn(process.execPath, [script, JSON.stringify(order)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let toldMs = 0;
  child.stdout.on('data', (chunk) => {
    toldMs = performance.now();
    output += chunk;
  });
  await new Promise((resolve) => child.on('close', resolve));
  return { ...JSON.parse(output), lastedMs: performance.now() - toldMs };
}
