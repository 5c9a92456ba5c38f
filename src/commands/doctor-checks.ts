import { connectWith } from '../connection/connect.ts';
import { probeService } from '../connection/connection.ts';
import { journalOf, journalTrouble, noFolderProblem } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import {
  doctorResultOf,
  type Fault,
  isAborted,
  isProjectUnknown,
  reasonOf,
  remedyOf,
} from '../run/fault.ts';
import { interruptedProblem, Problem } from '../run/problem.ts';
import { count, quote, shellWord } from '../run/quote.ts';
import { maskApiKey } from '../settings/api-key.ts';
import { readConfigFile } from '../settings/config-file.ts';
import { resolveConfigFile, resolveStateFolder } from '../settings/folders.ts';
import { readProfileInForce, shortSource } from '../settings/profile.ts';
import { need, type SettingFlags, type Settings } from '../settings/resolve.ts';
import {
  type Resolved,
  type StoredKey,
  storedKeys,
  unknownVariables,
  valueIfGiven,
} from '../settings/table.ts';
import { formatDuration } from '../system/time-text.ts';
import { isOutage } from '../watch/fetch-run.ts';
import { type Found, ok, skipped, warning } from './finding.ts';
import { triggersBeingSent } from './list-notes.ts';

// What `runctl doctor` checks.

/**
 * What the checks examine. The checks write nothing, and only `answer` sends a request, which is
 * sent once.
 */
export interface Machine {
  /** Its reporter is silent, because every message is a finding. */
  context: Invocation;
  flags: SettingFlags & { offline?: boolean };
  settings(): Promise<Settings>;
  answer(): ReturnType<typeof ask>;
  /** Whether the check with this name has passed. */
  passed(name: string): boolean;
}

export interface Check {
  /** The check is skipped if one of these failed or was skipped. */
  needs?: readonly string[];
  /** Throws a Problem if the check fails. */
  find(machine: Machine): Found | Promise<Found>;
}

/** In the order in which they are made and reported. */
export const checks = {
  settings: { find: checkSettings },
  variables: { find: checkVariables },
  base_url: { needs: ['settings'], find: checkBaseUrl },
  api_key: { needs: ['settings'], find: checkApiKey },
  service: { needs: ['base_url', 'api_key'], find: checkService },
  project: { needs: ['settings'], find: checkProject },
  clock: { needs: ['service'], find: checkClock },
  journal: { find: checkJournal },
  open: { needs: ['base_url', 'journal'], find: checkOpen },
} satisfies Record<string, Check>;

const keysWithOwnCheck: readonly StoredKey[] = ['apiKey', 'apiKeyCommand', 'baseUrl', 'project'];

/** Checks the config file, and settings that have no check of their own. */
async function checkSettings({ context, flags, settings }: Machine): Promise<Found> {
  // Throws for a file that is invalid or that others can change, and for a profile that isn't in
  // it.
  const resolved = await settings();
  for (const key of storedKeys) {
    if (!keysWithOwnCheck.includes(key)) valueIfGiven<unknown>(resolved[key]);
  }
  const { path, config, isExposed } = readConfigFile(resolveConfigFile(context.env));
  if (path === undefined) return ok('no config file: HOME is not set');
  const advice = `\`chmod 600 ${shellWord(path)}\``;
  if (isExposed) return warning(`others can read the API key in ${path}`, advice);
  const { unknown } = readProfileInForce(flags.profile, context.env);
  if (unknown) return warning(unknown.message, unknown.advice);
  const isEmpty = Object.keys(config.profiles ?? {}).length === 0;
  const message = isEmpty
    ? `no profile in ${path}`
    : `profile ${quote(resolved.profile.value ?? '')} in ${path}`;
  return ok(message);
}

function checkVariables({ context }: Machine): Found {
  const names = unknownVariables(context.env);
  if (names.length === 0) return ok('no unknown RUNCTL_ variables');
  return warning(`runctl doesn't know ${names.join(', ')}`, 'see `runctl help settings`');
}

async function checkBaseUrl({ context, settings }: Machine): Promise<Found> {
  const given = await settings();
  const isEncrypted = need('baseUrl', given).startsWith('https:');
  const message = shown(given.baseUrl);
  // Node obeys it, and says so only where its warnings aren't switched off.
  if (!isEncrypted || context.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return ok(message);
  return warning(
    `${message}; with NODE_TLS_REJECT_UNAUTHORIZED=0 nobody checks that it is this host that gets the API key`,
    'unset it, and name the file of your certificate authority in NODE_EXTRA_CA_CERTS',
  );
}

async function checkApiKey({ settings }: Machine): Promise<Found> {
  const given = await settings();
  const { command, source } = given.apiKey;
  // The text of a command is hidden, too, because it may contain a token.
  if (command !== undefined) return ok(shown({ source, text: 'printed by a command' }));
  const message = shown({ source, text: maskApiKey(need('apiKey', given)) });
  const isBound = source?.startsWith('profile ');
  return ok(isBound ? `${message}, sent only to that profile's base URL` : message);
}

/**
 * A project is never reported as right, because only a request that starts a run shows that it
 * exists.
 */
async function checkProject({ settings, answer, passed }: Machine): Promise<Found> {
  const { project } = await settings();
  if (valueIfGiven(project) === undefined) {
    const advice =
      'store it with `runctl config set project <uuid>`, or name automations as <projectId>/<name>';
    return warning('not set: needed for automations given by name', advice);
  }
  const { fault } = passed('service') ? await answer() : {};
  if (!fault || !isProjectUnknown(fault))
    return skipped(`${shown(project)}, not verified: only a trigger can show that it exists`);
  const message = `${shown(project)}: ${reasonOf(fault)}`;
  const hint = 'see where it comes from: `runctl config list`';
  throw new Problem({ fault, name: 'not_found', message, hint });
}

const shown = ({ text, source }: Resolved) => `${text} (${shortSource(source)})`;

async function checkService({ flags, answer }: Machine): Promise<Found> {
  if (flags.offline) return skipped('skipped: --offline');
  const { responded, fault, outage } = await answer();
  const result = fault && !isProjectUnknown(fault) ? doctorResultOf(fault) : 'ok';
  // "Not found" most likely means that the service checked and accepted the API key, but it isn't
  // certain.
  if (!fault || result === 'ok') return ok(`${responded}, and seems to accept the API key`);
  const remedy = fault.hint ?? outage ?? pageHint(fault) ?? remedyOf(fault) ?? 'try again later';
  if (result !== 'warning')
    throw new Problem({ fault, name: result, message: reasonOf(fault), hint: remedy });
  const message = `${responded}, but whether it accepts the API key isn't known: ${reasonOf(fault)}`;
  return warning(message, remedy);
}

const pageHint = ({ page }: Fault) =>
  page && 'find out what responded: a proxy, a gateway or a login page';

/** Asks the service for a run that can't exist. */
export async function ask(settings: Settings, flags: SettingFlags, context: Invocation) {
  // An invalid project is reported by its own check, so this one goes without it.
  const project = settings.project.problem ? {} : settings.project;
  const connection = await connectWith({ ...settings, project }, flags, context, { quiet: true });
  await connection.readApiKey();
  const askedMs = context.clock.elapsedMs();
  const answer = await probeService(connection);
  const took = formatDuration(context.clock.elapsedMs() - askedMs);
  const fault = answer.kind === 'fault' ? answer.fault : undefined;
  if (fault && isAborted(fault)) throw interruptedProblem(exitNameOfSignal(context.signal));
  const responded = `${new URL(connection.baseUrl).host} responded in ${took}`;
  const outage =
    fault && isOutage(fault, connection) ? 'the service or the network may be down' : undefined;
  return { fault, serviceTimeMs: answer.serviceTimeMs, responded, outage };
}

/**
 * `Date` counts whole seconds. A clock that is wrong by more than this makes ages and times
 * misleading.
 */
const tolerableMs = 10_000;

async function checkClock({ answer, context }: Machine): Promise<Found> {
  const { serviceTimeMs } = await answer();
  if (serviceTimeMs === undefined) return skipped("the service doesn't send its time");
  const offMs = context.clock.nowMs() - serviceTimeMs;
  if (Math.abs(offMs) <= tolerableMs) return ok("agrees with the service's clock");
  const side = offMs > 0 ? 'ahead of' : 'behind';
  const message = `this machine's clock is ${formatDuration(Math.abs(offMs))} ${side} the service's`;
  return warning(message, 'set the clock of this machine, with NTP for example');
}

function checkJournal({ context }: Machine): Found {
  const folder = resolveStateFolder(context.env);
  if (folder === undefined) throw noFolderProblem('output_error');
  const trouble = journalTrouble(folder);
  if (trouble) throw trouble;
  // Throws if it can't be read.
  journalOf(context, { needed: true }).entries().next();
  return ok(folder);
}

/**
 * Checks for unresolved triggers, except those that a process is still sending, and for unfinished
 * runs.
 */
async function checkOpen({ context, settings }: Machine): Promise<Found> {
  const baseUrl = need('baseUrl', await settings());
  const journal = journalOf(context, { needed: true });
  const sent = triggersBeingSent(journal, baseUrl).length;
  const unresolved = journal.unresolved({ baseUrl }).length - sent;
  const unfinished = journal.unfinished({ baseUrl }).length;
  const message = [
    count(unresolved, 'unresolved trigger'),
    ...(sent > 0 ? [`${count(sent, 'trigger')} being sent`] : []),
    count(unfinished, 'unfinished run'),
  ].join(', ');
  if (unresolved > 0) return warning(message, '`runctl recover`');
  return { ...ok(message), ...(unfinished > 0 && { advice: '`runctl watch --all`' }) };
}
