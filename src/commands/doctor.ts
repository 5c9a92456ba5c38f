import type { Context } from '../context.ts';
import type { ExitName } from '../core/exit-codes.ts';
import { type FailureKind, rowOf } from '../core/failure.ts';
import { type DoneReport, Problem } from '../core/report.ts';
import { httpFact } from '../output/state.ts';
import { loadStyle } from '../output/style.ts';
import type { ServiceClient } from '../service/service.ts';
import { maskApiKey } from '../settings/api-key.ts';
import {
  requireApiKey,
  requireBaseUrl,
  resolveSettings,
  type Settings,
} from '../settings/settings.ts';
import { formatDuration } from '../text/duration.ts';
import type { CommandResult } from './command.ts';
import { openJournal, openService } from './open.ts';

interface Check {
  name: 'settings' | 'connection' | 'API key' | 'journal';
  message: string;
  /** Of a check that failed. */
  exit?: ExitName;
  /** The command that helps, if one does. */
  command?: string;
}

/** Checks settings, connection, API key and journal, and says what to do. */
export async function doctor(context: Context): Promise<CommandResult> {
  const settings = resolveSettings(context);
  const checks: Check[] = [];
  try {
    const service = openService(context, settings);
    const apiKey = await service.readApiKey();
    checks.push({ name: 'settings', message: describe(settings) });
    checks.push(...(await checkService(service, apiKey, settings, context)));
  } catch (error) {
    checks.push(failedCheck('settings', error));
  }
  checks.push(checkJournal(settings, context));
  return { reports: [await reportOf(checks, context)], show: 'text' };
}

function describe(settings: Settings): string {
  const { profile, project, idempotencyKeys } = settings;
  const ofProject = project ? `project ${project.value.slice(0, 8)}…` : 'no project';
  const keys = idempotencyKeys.value === 'ignored' ? ', idempotency keys are ignored' : '';
  return `profile ${profile.value}: ${requireBaseUrl(settings)}, ${ofProject}${keys}`;
}

function failedCheck(name: Check['name'], error: unknown): Check {
  if (!(error instanceof Problem) || error.exit === 'interrupted') throw error;
  const { message, exit, command } = error;
  return { name, message, exit, command };
}

/** The API key can't be checked without a connection. */
async function checkService(
  service: ServiceClient,
  apiKey: string,
  settings: Settings,
  context: Context,
): Promise<Check[]> {
  const answer = await service.probe();
  const { host } = new URL(requireBaseUrl(settings));
  const { source } = requireApiKey(settings);
  const masked = maskApiKey(apiKey);
  if (answer.ok) {
    const { tookMs, serviceTimeMs } = answer.value;
    warnOfClock(serviceTimeMs, context);
    return [
      { name: 'connection', message: `${host} answered in ${tookMs} ms` },
      { name: 'API key', message: `${masked} in ${source} wasn't refused` },
    ];
  }
  const { kind } = answer.failure;
  const fact = httpFact(answer.failure);
  const reason = `${answer.failure.reason}${fact && ` (${fact})`}`;
  const { exit } = rowOf(answer.failure);
  if (exit === 'interrupted') throw new Problem('interrupted', { exit });
  if (kind === 'unauthorized') {
    const message = `${reason.replace(/^the API key was /, '')}; replace ${masked} in ${source}`;
    const command = source.startsWith('profile ') ? 'runctl config set apiKey' : undefined;
    return [
      { name: 'connection', message: `${host} answered` },
      { name: 'API key', message, exit, command },
    ];
  }
  const advice = adviceOf[kind];
  return [{ name: 'connection', message: `${reason}${advice ? `; ${advice}` : ''}`, exit }];
}

const adviceOf: Partial<Record<FailureKind, string>> = {
  unreachable: 'check the base URL and the network',
  tls: 'name the file of its certificate authority in NODE_EXTRA_CA_CERTS',
  proxy: 'check HTTPS_PROXY',
  redirected: 'check the base URL',
  invalid_response: 'check the base URL',
  not_found: 'check the base URL',
  rejected: 'check the base URL',
};

/** Clocks that differ by more make times and ages misleading. */
const maxClockErrorMs = 120_000;

function warnOfClock(serviceTimeMs: number | undefined, { clock, emit }: Context): void {
  if (serviceTimeMs === undefined) return;
  const aheadMs = clock.nowMs() - serviceTimeMs;
  if (Math.abs(aheadMs) < maxClockErrorMs) return;
  const side = aheadMs > 0 ? 'ahead of' : 'behind';
  const difference = formatDuration(Math.abs(aheadMs));
  const text = `this machine's clock is ${difference} ${side} the service's`;
  emit({ type: 'warning', text });
}

function checkJournal(settings: Settings, context: Context): Check {
  try {
    return { name: 'journal', message: openJournal(context, settings).check() };
  } catch (error) {
    return failedCheck('journal', error);
  }
}

async function reportOf(checks: readonly Check[], context: Context): Promise<DoneReport> {
  const { glyphs, tint, line, wrap } = await loadStyle(context.stdout, context);
  const lines = checks.map(({ name, message, exit }) => {
    const tone = exit ? 'bad' : 'good';
    return `${tint(tone, glyphs[tone])} ${name.padEnd(10)}  ${wrap(line(message), 14)}`;
  });
  const failed = checks.find(({ exit }) => exit);
  return {
    kind: 'done',
    exit: failed?.exit ?? 'ok',
    text: lines.join('\n'),
    document: {
      checks: checks.map(({ name, message, exit }) => ({ name, isOk: !exit, message })),
    },
    error: failed && { message: `${failed.name}: ${failed.message}`, command: failed.command },
  };
}
