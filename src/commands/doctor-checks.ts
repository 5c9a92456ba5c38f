import { connectWith } from '../connection/connect.ts';
import { probeService } from '../connection/connection.ts';
import { journalProblem, noFolderProblem } from '../connection/journal-problem.ts';
import { journalOf } from '../connection/open-journal.ts';
import type { CommandContext } from '../context.ts';
import { createProcesses, senderOf } from '../journal/processes.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import {
  exitNameAfterGivingUp,
  type Fault,
  type FaultKind,
  isInterruption,
  isProjectUnknown,
  reasonOf,
  remedyOf,
} from '../run/fault.ts';
import { interruptedProblem, Problem } from '../run/problem.ts';
import { pluralize, quote, shellWord } from '../run/quote.ts';
import { maskApiKey } from '../settings/api-key.ts';
import { readConfigFile } from '../settings/config-file.ts';
import { resolveConfigFile, resolveStateFolder } from '../settings/folders.ts';
import { readCurrentProfile, shortSource } from '../settings/profile.ts';
import { requiredValue, type SettingFlags, type Settings } from '../settings/resolve.ts';
import {
  optionalValue,
  type Resolved,
  type StoredSettingName,
  storedSettingNames,
} from '../settings/table.ts';
import { unknownVariables } from '../settings/unknown-variables.ts';
import { formatDuration } from '../system/time-text.ts';
import { isOutage } from '../watch/outage.ts';
import { type CheckResult, ok, skipped, warning } from './doctor-finding.ts';

// What `runctl doctor` checks.

/**
 * What the checks read. They write nothing, and only `probe` sends a request, which is sent once.
 */
export interface CheckContext {
  /** Its reporter is silent, because every message is a finding. */
  context: CommandContext;
  flags: SettingFlags & { offline?: boolean };
  settings(): Promise<Settings>;
  probe(): ReturnType<typeof sendProbe>;
  /** Whether the check with this name has passed. */
  hasPassed(name: string): boolean;
}

export interface Check {
  /** The check is skipped if one of these failed or was skipped. */
  needs?: readonly string[];
  /** Throws a Problem if the check fails. */
  run(checkContext: CheckContext): CheckResult | Promise<CheckResult>;
}

/** The checks, in the order in which they run and are reported. */
export const checks = {
  settings: { run: checkSettings },
  variables: { run: checkVariables },
  base_url: { needs: ['settings'], run: checkBaseUrl },
  api_key: { needs: ['settings'], run: checkApiKey },
  service: { needs: ['base_url', 'api_key'], run: checkService },
  project: { needs: ['settings'], run: checkProject },
  clock: { needs: ['service'], run: checkClock },
  journal: { run: checkJournal },
  open: { needs: ['base_url', 'journal'], run: checkUnfinished },
} satisfies Record<string, Check>;

const settingsWithOwnCheck: readonly StoredSettingName[] = [
  'apiKey',
  'apiKeyCommand',
  'baseUrl',
  'project',
];

/** Checks the config file, and settings that have no check of their own. */
async function checkSettings({ context, flags, settings }: CheckContext): Promise<CheckResult> {
  // Throws for a file that is invalid or that others can change, and for a profile that isn't in
  // it.
  const resolved = await settings();
  for (const name of storedSettingNames) {
    // Throws the problem of a setting that is refused.
    if (!settingsWithOwnCheck.includes(name)) optionalValue<unknown>(resolved[name]);
  }
  const { path, config, isExposed } = readConfigFile(resolveConfigFile(context.env));
  if (path === undefined) return ok('no config file: HOME is not set');
  const advice = `\`chmod 600 ${shellWord(path)}\``;
  if (isExposed) return warning(`others can read the API key in ${path}`, advice);
  const { unknown } = readCurrentProfile(flags.profile, context.env);
  if (unknown) return warning(unknown.message, unknown.advice);
  const isEmpty = Object.keys(config.profiles ?? {}).length === 0;
  const message = isEmpty
    ? `no profile in ${path}`
    : `profile ${quote(resolved.profile.value ?? '')} in ${path}`;
  return ok(message);
}

function checkVariables({ context }: CheckContext): CheckResult {
  const names = unknownVariables(context.env);
  if (names.length === 0) return ok('no unknown RUNCTL_ variables');
  return warning(`runctl doesn't know ${names.join(', ')}`, 'see `runctl help settings`');
}

async function checkBaseUrl({ context, settings }: CheckContext): Promise<CheckResult> {
  const resolved = await settings();
  const isEncrypted = requiredValue('baseUrl', resolved).startsWith('https:');
  const message = valueAndSource(resolved.baseUrl);
  // Node obeys it, and says so only where its warnings aren't switched off.
  if (!isEncrypted || context.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return ok(message);
  return warning(
    `${message}; with NODE_TLS_REJECT_UNAUTHORIZED=0 nobody checks that it is this host that gets the API key`,
    'unset it, and name the file of your certificate authority in NODE_EXTRA_CA_CERTS',
  );
}

async function checkApiKey({ settings }: CheckContext): Promise<CheckResult> {
  const resolved = await settings();
  const { command, source } = resolved.apiKey;
  // The text of a command is hidden, too, because it may contain a token.
  if (command !== undefined) return ok(valueAndSource({ source, text: 'printed by a command' }));
  const message = valueAndSource({ source, text: maskApiKey(requiredValue('apiKey', resolved)) });
  const isBound = source?.startsWith('profile ');
  return ok(isBound ? `${message}, sent only to that profile's base URL` : message);
}

/**
 * A project is never reported as right, because only a request that starts a run shows that it
 * exists.
 */
async function checkProject({ settings, probe, hasPassed }: CheckContext): Promise<CheckResult> {
  const { project } = await settings();
  if (optionalValue(project) === undefined) {
    const advice =
      'store it with `runctl config set project <uuid>`, or name automations as <projectId>/<name>';
    return warning('not set: needed for automations given by name', advice);
  }
  const { fault } = hasPassed('service') ? await probe() : {};
  if (!fault || !isProjectUnknown(fault))
    return skipped(
      `${valueAndSource(project)}, not verified: only a trigger can show that it exists`,
    );
  const message = `${valueAndSource(project)}: ${reasonOf(fault)}`;
  const hint = 'see where it comes from: `runctl config list`';
  throw new Problem({ fault, name: 'not_found', message, hint });
}

const valueAndSource = ({ text, source }: Resolved) => `${text} (${shortSource(source)})`;

/** What the check `service` says after these faults. */
const resultAfterFault: Partial<Record<FaultKind, 'ok' | 'warning'>> = {
  not_found: 'ok',
  no_credits: 'warning',
  throttled: 'warning',
};

/**
 * The result of the check `service` after this fault. It is an exit name if the check fails, as it
 * always does after an HTML page.
 */
const serviceResultOf = (fault: Fault) =>
  fault.page === undefined
    ? (resultAfterFault[fault.kind] ?? exitNameAfterGivingUp(fault))
    : 'unavailable';

async function checkService({ flags, probe }: CheckContext): Promise<CheckResult> {
  if (flags.offline) return skipped('skipped: --offline');
  const { responded, fault, outageHint } = await probe();
  // "Not found" most likely means that the service checked and accepted the API key, but it isn't
  // certain.
  const result = fault && !isProjectUnknown(fault) ? serviceResultOf(fault) : 'ok';
  if (!fault || result === 'ok') return ok(`${responded}, and seems to accept the API key`);
  const hint = fault.hint ?? outageHint ?? pageHint(fault) ?? remedyOf(fault) ?? 'try again later';
  const reason = reasonOf(fault);
  if (result !== 'warning') throw new Problem({ fault, name: result, message: reason, hint });
  return warning(`${responded}, but whether it accepts the API key isn't known: ${reason}`, hint);
}

const pageHint = ({ page }: Fault) =>
  page && 'find out what responded: a proxy, a gateway or a login page';

/**
 * Sends the only request of the checks, for a run that can't exist. Throws the interrupted problem.
 */
export async function sendProbe(settings: Settings, flags: SettingFlags, context: CommandContext) {
  const { clock, signal } = context;
  // An invalid project is reported by its own check, so this one goes without it.
  const project = settings.project.problem ? {} : settings.project;
  const connection = await connectWith({ ...settings, project }, flags, context, { quiet: true });
  await connection.readApiKey();
  const sentMs = clock.elapsedMs();
  const answer = await probeService(connection);
  const took = formatDuration(clock.elapsedMs() - sentMs);
  const fault = answer.kind === 'fault' ? answer.fault : undefined;
  if (fault && isInterruption(fault)) throw interruptedProblem(exitNameOfSignal(signal));
  const hasOutage = fault !== undefined && isOutage(fault, connection);
  return {
    fault,
    serviceTimeMs: answer.serviceTimeMs,
    /** The beginning of a sentence. */
    responded: `${new URL(connection.baseUrl).host} responded in ${took}`,
    outageHint: hasOutage ? 'the service or the network may be down' : undefined,
  };
}

/**
 * `Date` counts whole seconds. A clock that is wrong by more than this makes ages and times
 * misleading.
 */
const maxClockErrorMs = 10_000;

async function checkClock({ probe, context }: CheckContext): Promise<CheckResult> {
  const { serviceTimeMs } = await probe();
  if (serviceTimeMs === undefined) return skipped("the service doesn't send its time");
  const offMs = context.clock.nowMs() - serviceTimeMs;
  if (Math.abs(offMs) <= maxClockErrorMs) return ok("agrees with the service's clock");
  const side = offMs > 0 ? 'ahead of' : 'behind';
  const message = `this machine's clock is ${formatDuration(Math.abs(offMs))} ${side} the service's`;
  return warning(message, 'set the clock of this machine, with NTP for example');
}

function checkJournal({ context }: CheckContext): CheckResult {
  const folder = resolveStateFolder(context.env);
  if (folder === undefined) throw noFolderProblem('output_error');
  const problem = journalProblem(folder);
  if (problem) throw problem;
  // Throws if it can't be read.
  journalOf(context, { needed: true }).entries().next();
  return ok(folder);
}

/**
 * The check `open`: for unresolved triggers, except those that a process is still sending, and for
 * unfinished runs.
 */
async function checkUnfinished({ context, settings }: CheckContext): Promise<CheckResult> {
  const baseUrl = requiredValue('baseUrl', await settings());
  const journal = journalOf(context, { needed: true });
  const processes = createProcesses();
  const triggers = journal.unresolved({ baseUrl });
  const sent = triggers.filter(
    (each) => senderOf(each, processes, journal.nowMs()) !== undefined,
  ).length;
  const unresolved = triggers.length - sent;
  const unfinished = journal.unfinished({ baseUrl }).length;
  const counts = [
    pluralize(unresolved, 'unresolved trigger'),
    sent > 0 ? `${pluralize(sent, 'trigger')} being sent` : '',
    pluralize(unfinished, 'unfinished run'),
  ];
  const message = counts.filter((text) => text !== '').join(', ');
  if (unresolved > 0) return warning(message, '`runctl recover`');
  return unfinished > 0 ? { ...ok(message), advice: '`runctl watch --all`' } : ok(message);
}
