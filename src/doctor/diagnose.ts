import type { Invocation } from '../context.ts';
import { isInterruptName } from '../problems/exit-codes.ts';
import { Problem } from '../problems/problem.ts';
import { silentReporter } from '../runs/events.ts';
import { checkJournal, checkStateFolder } from './check-journal.ts';
import { checkService } from './check-service.ts';
import { checkConfigFile, checkProgram, checkSettings } from './check-settings.ts';
import { checkShell } from './check-shell.ts';
import { type Finding, failed, labelOf, type Machine, skipped } from './finding.ts';

/** Checks that belong together. The first one that fails, by throwing a Problem, ends its group. */
interface Group {
  names: readonly string[];
  check(machine: Machine): AsyncGenerator<Finding> | Generator<Finding>;
  needs?: readonly string[];
  isOnline?: boolean;
}

const settings = ['profile', 'base_url', 'api_key', 'project', 'request_timeout', 'idempotency_keys'];

const groups: readonly Group[] = [
  { names: ['program'], check: checkProgram },
  { names: ['config_file'], check: checkConfigFile },
  { names: settings, check: checkSettings, needs: ['config_file'] },
  {
    names: ['api_key_command', 'http', 'clock', 'api_key_accepted'],
    check: checkService,
    needs: settings,
    isOnline: true,
  },
  { names: ['state_folder'], check: checkStateFolder },
  { names: ['unresolved_triggers', 'unfinished_runs'], check: checkJournal, needs: ['base_url', 'state_folder'] },
  { names: ['cron_path'], check: checkShell },
];

/** Runs every check, in the order of their dependencies. Throws only the interrupted problem. */
export async function diagnose(flags: Machine['flags'], outer: Invocation): Promise<Finding[]> {
  const machine: Machine = { flags, context: { ...outer, reporter: silentReporter } };
  const findings: Finding[] = [];
  for (const group of groups) {
    const obstacle = findings.find((finding) => group.needs?.includes(finding.name) && !isPassed(finding));
    if (group.isOnline && flags.offline) findings.push(...skip(group.names, 'skipped: --offline'));
    else if (obstacle) findings.push(...skip(group.names, skipReasonOf(obstacle)));
    else findings.push(...(await examine(group, machine)));
  }
  const { scrub } = outer.secrets;
  return findings.map(({ message, advice, ...finding }) => ({
    ...finding,
    message: scrub(message),
    advice: advice && scrub(advice),
  }));
}

const isPassed = ({ result }: Finding) => result === 'ok' || result === 'warning';

const skip = (names: readonly string[], reason: string) => names.map((name) => skipped(name, reason));

const skipReasonOf = ({ name, result, message }: Finding) =>
  result === 'failed' ? `skipped until the ${labelOf(name)} check passes` : message;

async function examine({ names, check }: Group, machine: Machine): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    for await (const finding of check(machine)) findings.push(finding);
    return findings;
  } catch (error) {
    const [current, ...rest] = names.filter((name) => !findings.some((finding) => finding.name === name));
    if (!(error instanceof Problem) || isInterruptName(error.facts.name) || !current) throw error;
    const finding = failed(current, error);
    return [...findings, finding, ...skip(rest, skipReasonOf(finding))];
  }
}
