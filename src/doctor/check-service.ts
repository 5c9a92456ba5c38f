import { proxyFor, proxyNameOf } from '../api/proxy.ts';
import { need } from '../config/settings.ts';
import { connectWith } from '../connection/connect.ts';
import { pollUnknownRun } from '../connection/poll-once.ts';
import type { ExitName } from '../problems/exit-codes.ts';
import { Problem } from '../problems/problem.ts';
import { interruptedProblem } from '../problems/watch-problems.ts';
import { doctorResultOf, type Fault, faultFields, isInterruption, reasonOf, remedyOf } from '../runs/fault.ts';
import { formatDuration } from '../runs/time-text.ts';
import { type Finding, type Machine, ok, skipped, warning } from './finding.ts';

export async function* checkService({ flags, context, settings }: Machine): AsyncGenerator<Finding> {
  if (!settings) return;
  const { host, origin } = new URL(need('baseUrl', settings));
  const proxy = proxyFor(origin, context.env);
  const connection = await connectWith(settings, flags, context, { quiet: true });
  const { clock, signal } = context;
  await connection.account();
  yield ok('api_key_command', settings.apiKey.command ? 'it printed an API key' : 'not set');

  const askedMs = clock.elapsedMs();
  const answer = await pollUnknownRun(connection);
  const tookMs = clock.elapsedMs() - askedMs;
  const fault = answer.kind === 'fault' ? answer.fault : undefined;
  if (fault && isInterruption(fault)) throw interruptedProblem(signal);
  const result = fault ? doctorResultOf(fault) : 'ok';
  if (fault && result === 'unavailable') throw serviceProblem(fault, result);
  const way = proxy ? ` through ${proxyNameOf(proxy)}` : '';
  yield ok('http', `${host} responded${way} in ${formatDuration(tookMs)} (HTTP ${fault?.httpStatus ?? 200})`);
  if (result === 'ok') yield clockFinding(answer.serviceTimeMs, clock.nowMs());
  // A proxy or a login page has its own clock.
  else yield skipped('clock', `not compared: the service may not be what responded (HTTP ${fault?.httpStatus})`);
  yield keyFinding(fault, result);
}

/** `Date` counts whole seconds. A clock that is wrong by more than this makes ages and times misleading. */
const tolerableMs = 10_000;

function clockFinding(serviceTimeMs: number | undefined, nowMs: number): Finding {
  if (serviceTimeMs === undefined) return skipped('clock', "the service doesn't send its time");
  const offMs = nowMs - serviceTimeMs;
  const side = offMs > 0 ? 'ahead of' : 'behind';
  if (Math.abs(offMs) <= tolerableMs) return ok('clock', "agrees with the server's clock");
  const message = `this machine's clock is ${formatDuration(Math.abs(offMs))} ${side} the service's`;
  return warning('clock', message, 'set the clock of this machine, with NTP for example');
}

const serviceProblem = (fault: Fault, name: ExitName) =>
  new Problem({
    ...faultFields(fault),
    name,
    message: reasonOf(fault),
    hint:
      fault.hint ??
      (fault.page ? 'find out what responded: a proxy, a gateway or a login page' : undefined) ??
      remedyOf(fault) ??
      'try again later',
  });

/** "Not found" most likely means that the service checked and accepted the API key, but it isn't certain. */
function keyFinding(fault: Fault | undefined, result: ExitName | 'warning'): Finding {
  const name = 'api_key_accepted';
  if (!fault || result === 'ok')
    return ok(name, 'very likely: asking for a nonexistent run returned not found, not 401 or 403');
  if (result === 'warning') return warning(name, `not known: ${reasonOf(fault)}`, remedyOf(fault) ?? 'try again later');
  throw serviceProblem(fault, result);
}
