import { buildSync } from 'esbuild';
import type { ExchangeOrder, ExchangeReport } from './exchange.ts';
import { atOnceAfter } from './real-time.ts';
import { runCommand } from './run-process.ts';

export interface ProcessReport extends ExchangeReport {
  /** From the report to the end of the process, which nothing ends but an idle event loop. */
  lastedMs: number;
  /** What a process that ends at once takes for that at most, by how long this one took to start. */
  atOnceMs: number;
}

let bundle: string | undefined;

/** The same exchange by a process of its own, which trusts the authority in a file, and which shows what holds it. */
export async function exchangeInProcess(order: ExchangeOrder, authorityFile?: string): Promise<ProcessReport> {
  bundle ??= bundled();
  const startMs = performance.now();
  let reportedMs = 0;
  const { stdout } = await runCommand([process.execPath, '-', JSON.stringify(order)], {
    env: { NODE_EXTRA_CA_CERTS: authorityFile },
    input: bundle,
    onOutput: () => {
      reportedMs = performance.now();
    },
  });
  const endMs = performance.now();
  const report: ExchangeReport = JSON.parse(stdout);
  return { ...report, lastedMs: endMs - reportedMs, atOnceMs: atOnceAfter(reportedMs - startMs - report.tookMs) };
}

function bundled(): string {
  const contents = `
    import { exchange } from './exchange.ts';
    exchange(JSON.parse(process.argv[2])).then((report) => console.log(JSON.stringify(report)));`;
  const stdin = { contents, resolveDir: import.meta.dirname, loader: 'ts' as const };
  const { outputFiles } = buildSync({ stdin, bundle: true, platform: 'node', format: 'cjs', write: false });
  return outputFiles[0]?.text ?? '';
}
