import type { Fault } from '../../src/run/fault.ts';
import { networkFaultOf } from '../../src/service/network-fault.ts';
import { createTransport, type TransportOptions } from '../../src/service/transport.ts';
import { ampleLimitMs } from './real-time.ts';

export interface ExchangeOrder extends Partial<TransportOptions> {
  origin: string;
  method?: 'GET' | 'POST';
  /** Ample by default. */
  timeoutMs?: number;
  /** What still comes of it is waited for so long. */
  lingerMs?: number;
}

export interface ExchangeReport {
  status?: number;
  body?: string;
  sent?: boolean;
  fault?: Fault;
  tookMs: number;
}

/** One exchange by a transport of its own, and what came of it. */
export async function exchange(order: ExchangeOrder): Promise<ExchangeReport> {
  const { method = 'POST', timeoutMs = ampleLimitMs, lingerMs = 0, ...options } = order;
  const transport = createTransport({ connections: 2, connectTimeoutMs: timeoutMs, ...options });
  const body = method === 'POST' ? '{}' : undefined;
  const request = { method, path: '/v0/x', headers: {}, body, timeoutMs, maxBytes: 1000 };
  const startMs = performance.now();
  const ended = await transport.exchange(request, new AbortController().signal);
  const tookMs = performance.now() - startMs;
  if (lingerMs > 0) await new Promise((resolve) => setTimeout(resolve, lingerMs));
  if (ended.kind === 'response') return { status: ended.response.status, body: ended.response.body.toString(), tookMs };
  const { host } = new URL(order.origin);
  return {
    sent: ended.failure.wasSent,
    fault: networkFaultOf(ended.failure, { host, timeoutMs, proxy: options.proxy }),
    tookMs,
  };
}
