import { Command, Option } from 'commander';
import { define } from '../cli/command.ts';
import { automation } from '../cli/values.ts';
import { connectWith } from '../connection/connect.ts';
import { probeService } from '../connection/connection.ts';
import { journalOf, journalTrouble } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import { type OutputOptions, type Result, wantsData } from '../output/print.ts';
import { silentReporter } from '../run/events.ts';
import { exitNameOfSignal, isSignalExitName } from '../run/exit-codes.ts';
import { doctorResultOf, type Fault, isAborted, isProjectUnknown, reasonOf, remedyOf } from '../run/fault.ts';
import type { Outcome } from '../run/outcome.ts';
import { interruptedProblem, Problem, usageProblem } from '../run/problem.ts';
import { count, quote, shellWord } from '../run/quote.ts';
import { maskApiKey } from '../settings/api-key.ts';
import { readConfigFile } from '../settings/config-file.ts';
import { resolveConfigFile, resolveStateFolder } from '../settings/folders.ts';
import { readProfileInForce, shortSource } from '../settings/profile.ts';
import { need, resolveSettings, type SettingFlags, type Settings } from '../settings/resolve.ts';
import { type Resolved, type StoredKey, storedKeys, unknownVariables, valueIfGiven } from '../settings/table.ts';
import { formatDuration } from '../system/time-text.ts';
import { isOutage } from '../watch/fetch-run.ts';
import { type Finding, type Found, failed, findingLines, labelOf, ok, reportOf, skipped, warning } from './finding.ts';
import { triggersBeingSent } from './list-notes.ts';
import { showKeyTrial } from './try-key.ts';

const command = new Command('doctor')
  .description('check settings, service, API key, clock and journal')
  .option('--offline', 'send nothing')
  .addOption(
    new Option(
      '--try-key <automation>',
      'find out whether the service honors idempotency keys: starts one or two runs of this automation',
    )
      .argParser(automation)
      .conflicts('offline'),
  )
  .option('--yes', 'with --try-key: start the runs without asking');

export const doctor = define(command, {
  examples: [
    ['runctl doctor', 'find problems, and what to type next'],
    ['runctl doctor --json', 'print it as JSON for a bug report (without the API key)'],
    ['runctl doctor --try-key nightly', 'find out whether the service honors idempotency keys'],
  ],
  async run(_, options, context): Promise<Result> {
    if (options.tryKey !== undefined) return showKeyTrial(options.tryKey, options, context);
    if (options.yes) throw usageProblem('--yes needs --try-key', 'add `--try-key`');
    const findings = await diagnose(options, context);
    const problem = problemOf(findings, options);
    const printed = findings.filter(({ result }) => !options.quiet || severity[result] > 0);
    // Problems come last, because that is where users look when the command exits.
    printed.sort((one, other) => severity[one.result] - severity[other.result]);
    const fields = { doctor: reportOf(findings) };
    const outcome: Outcome = problem ? { kind: 'problem', problem, fields } : { kind: 'info', fields };
    return {
      outcomes: [outcome],
      forPeople: {
        text: (theme, lines) => findingLines(printed, theme, lines),
        note: problem || options.quiet ? undefined : verdict(findings),
      },
    };
  },
});

/**
 * What the checks examine. The checks write nothing, and only `answer` sends a request, which is
 * sent once.
 */
interface Machine {
  /** Its reporter is silent, because every message is a finding. */
  context: Invocation;
  flags: SettingFlags & { offline?: boolean };
  settings(): Promise<Settings>;
  answer(): ReturnType<typeof ask>;
  /** Whether the check with this name has passed. */
  passed(name: string): boolean;
}

interface Check {
  /** The check is skipped if one of these failed or was skipped. */
  needs?: readonly string[];
  /** Throws a Problem if the check fails. */
  find(machine: Machine): Found | Promise<Found>;
}

/** In the order in which they are made and reported. */
const checks = {
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
  const message = isEmpty ? `no profile in ${path}` : `profile ${quote(resolved.profile.value ?? '')} in ${path}`;
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
    const advice = 'store it with `runctl config set project <uuid>`, or name automations as <projectId>/<name>';
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
  if (result !== 'warning') throw new Problem({ fault, name: result, message: reasonOf(fault), hint: remedy });
  const message = `${responded}, but whether it accepts the API key isn't known: ${reasonOf(fault)}`;
  return warning(message, remedy);
}

const pageHint = ({ page }: Fault) => page && 'find out what responded: a proxy, a gateway or a login page';

/** Asks the service for a run that can't exist. */
async function ask(settings: Settings, flags: SettingFlags, context: Invocation) {
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
  const outage = fault && isOutage(fault, connection) ? 'the service or the network may be down' : undefined;
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
  if (folder === undefined) {
    const message = 'there is no folder for the journal';
    throw new Problem({ name: 'output_error', message, hint: 'set HOME or RUNCTL_STATE_DIR' });
  }
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

/** Runs the checks. Throws only the interrupted problem. */
async function diagnose(flags: SettingFlags & { offline?: boolean }, outer: Invocation): Promise<Finding[]> {
  const context = { ...outer, reporter: silentReporter };
  const settings = once(() => resolveSettings(flags, context));
  const answer = once(async () => ask(await settings(), flags, context));
  const findings: Finding[] = [];
  const passed = (name: string) => findings.some((finding) => finding.name === name && isPassed(finding));
  const machine: Machine = { context, flags, settings, answer, passed };
  for (const [name, { needs = [], find }] of Object.entries<Check>(checks)) {
    const obstacle = findings.find((each) => needs.includes(each.name) && !isPassed(each));
    const found = obstacle
      ? skipped(`skipped until the ${labelOf(obstacle.name)} check passes`)
      : await orFailed(() => find(machine));
    findings.push({ name, ...found });
  }
  const { scrub } = outer.secrets;
  return findings.map((each) => ({ ...each, message: scrub(each.message), advice: each.advice && scrub(each.advice) }));
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const isPassed = ({ result }: Finding) => result === 'ok' || result === 'warning';

async function orFailed(find: () => Found | Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof Problem) || isSignalExitName(error.facts.name)) throw error;
    return failed(error);
  }
}

const severity = { ok: 0, skipped: 0, warning: 1, failed: 2 };

/** The first check that failed decides, because what failed after it may follow from it. */
function problemOf(findings: readonly Finding[], options: OutputOptions): Problem | undefined {
  const all = findings.filter(({ result }) => result === 'failed');
  const [first] = all;
  if (!first?.exitName) return undefined;
  const { exitName: name, advice: hint } = first;
  if (wantsData(options)) return new Problem({ name, message: `${labelOf(first.name)}: ${first.message}`, hint });
  // Without `--json`, the list of checks has the messages and what to do.
  const message = `${count(all.length, 'check')} failed: ${all.map((each) => labelOf(each.name)).join(', ')}`;
  return new Problem({ name, message, hint: '`runctl help troubleshooting`' });
}

function verdict(findings: readonly Finding[]): string {
  const warnings = findings.filter(({ result }) => result === 'warning').length;
  // The checks can't find what only a trigger meets, such as the size limit of a gateway.
  const failed = warnings === 0 ? 'No check failed.' : `No check failed, with ${count(warnings, 'warning')}.`;
  return `${failed} No trigger was sent.`;
}
