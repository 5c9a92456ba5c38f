import { argument, choice, defineCommand, flag, type OptionValues, option } from '../cli/define-command.ts';
import { startOptions } from '../cli/options.ts';
import { errorTypeNames, longestIdempotencyKey, whole } from '../cli/values.ts';
import { requireProject } from '../config/settings.ts';
import { errorTypes } from '../problems/next-step.ts';
import { usageProblem } from '../problems/problem.ts';
import { defaults } from '../runs/defaults.ts';
import type { AutomationTarget } from '../runs/run.ts';
import { parseAutomationArgument } from '../session/arguments.ts';
import { connect } from '../session/connect.ts';
import { triggerAll } from '../session/trigger-runs.ts';

const options = {
  watch: flag('-w, --watch', 'follow the run to its end, then print its summary'),
  ifActive: choice(
    '--if-active <what>',
    'where a run is active: fail with 5, skip with 0, wait for its end and then start, or attach to it (default: fail)',
    ['fail', 'skip', 'wait', 'attach'],
  ),
  rerunOn: option(
    '--rerun-on <types>',
    `with --watch: start again after these error types (${errorTypes.join(', ')})`,
    errorTypeNames,
  ),
  maxReruns: option('--max-reruns <n>', `how often at the most (default: ${defaults.maxReruns})`, whole(0, 1000)),
  ...startOptions,
};

export type TriggerOptions = OptionValues<typeof options>;

export const trigger = defineCommand({
  name: 'trigger',
  about: 'start a run now; with --watch, follow it to its end',
  arguments: { automations: argument('<automation...>', 'name, or <projectId>/<name>') },
  options,
  examples: [
    ['id=$(runctl trigger nightly)', 'starts a run and keeps its id'],
    ['runctl trigger nightly --watch', 'starts a run and ends with its exit code'],
    ['runctl trigger a b c --watch', 'three runs side by side'],
    ['runctl trigger nightly --if-active skip', 'all is well where it is running already'],
    ['runctl trigger nightly --idempotency-key "nightly-$(date -u +%F)"', 'one run a day, however often it is typed'],
    ['runctl trigger nightly --watch --rerun-on lease_lost,reaped', 'again, if its environment was lost'],
  ],
  async run({ automations: names }, options, context) {
    checkWatchFlags(options);
    const idempotencyKeyOf = parseKeyTemplate(options, names.length);
    const session = await connect(options, context, { quiet: false });
    const project = () => requireProject(session.settings);
    const requests = names.map((name) => {
      const target = parseAutomationArgument(name, project);
      return { target, body: '{}', idempotencyKey: idempotencyKeyOf(target) };
    });
    return triggerAll(requests, options, session);
  },
});

const placeholder = '{automation}';

/**
 * The idempotency key of each automation, in which `{automation}` stands for its project and name.
 * Throws a usage problem for one that several would share, or that is too long.
 */
function parseKeyTemplate(
  { idempotencyKey: template, rerunOn, maxReruns = defaults.maxReruns }: TriggerOptions,
  automations: number,
): (target: AutomationTarget) => string | undefined {
  if (template === undefined) return () => undefined;
  if (automations > 1 && !template.includes(placeholder)) {
    throw usageProblem(
      'with several automations each needs an idempotency key of its own',
      `put ${placeholder} into \`--idempotency-key\`: it stands for the project and the name`,
    );
  }
  return ({ projectId, automationName }) => {
    const name = encodeURIComponent(`${projectId}/${automationName}`);
    const key = template.replaceAll(placeholder, name);
    const longest = rerunOn ? `${key}/${maxReruns}` : key;
    if (longest.length <= longestIdempotencyKey) return key;
    const whose = rerunOn ? `${automationName}, with the number of a rerun,` : automationName;
    throw usageProblem(`the idempotency key for ${whose} is longer than ${longestIdempotencyKey} characters`);
  };
}

/** Refuses the flags that would be of no effect. */
export function checkWatchFlags(options: TriggerOptions): void {
  const needsWatch = [
    options.rerunOn && '--rerun-on',
    options.maxReruns !== undefined && '--max-reruns',
    options.onFinal && '--on-final',
    options.bell && '--bell',
  ];
  const [lonely] = needsWatch.filter(Boolean);
  if (lonely && !options.watch) throw usageProblem(`${lonely} goes with --watch`);
}
