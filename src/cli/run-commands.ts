import { Option } from 'commander';
import { errorTypes } from '../problems/next-step.ts';
import { defaults } from '../runs/defaults.ts';
import { checked, createOption, duration, errorTypeNames, exitStatus, typed, whole, withOptions } from './options.ts';
import type { Wire } from './wiring.ts';

export const wireTrigger: Wire = (command, { done, context }) => {
  const inGroup = (option: Option) => option.helpGroup('Starting:');
  withOptions(command, 'starting', 'following', 'download', 'output', 'events', 'settings')
    .option('-w, --watch', 'follow the run to its end, then print its summary')
    .addOption(
      inGroup(
        new Option(
          '--if-active <what>',
          'where a run is active: fail with 5, skip with 0, wait for its end and then start, or attach to it',
        )
          .choices(['fail', 'skip', 'wait', 'attach'])
          .default('fail'),
      ),
    )
    .addOption(
      inGroup(
        createOption([
          '--rerun-on <types>',
          `with --watch: start again after these error types (${errorTypes.join(', ')})`,
          errorTypeNames,
        ]),
      ),
    )
    .addOption(inGroup(createOption(['--max-reruns <n>', 'how often at the most (default: 1)', whole(0, 1000)])))
    .action(async (automations, options) => {
      const { trigger } = await import('../commands/trigger.ts');
      await done(trigger(automations, checked(options), context));
    });
};

export const wireStatus: Wire = (command, { done, context }) => {
  withOptions(command, 'run', 'patience', 'output', 'settings')
    .option(...exitStatus)
    .action(async (run, options) => {
      const { status } = await import('../commands/status.ts');
      await done(status(run, checked(options), context));
    });
};

export const wireResult: Wire = (command, { done, context }) => {
  withOptions(command, 'run', 'patience', 'download', 'output', 'settings')
    .option(...exitStatus)
    .action(async (run, options) => {
      const { result } = await import('../commands/result.ts');
      await done(result(run, checked(options), context));
    });
};

export const wireWatch: Wire = (command, { done, context }) => {
  withOptions(command, 'run', 'following', 'download', 'output', 'events', 'settings')
    .option('--all', 'every run of the journal that has not ended')
    .option('--fail-fast', 'stop watching once a run did not complete, and end with its code')
    .action(async (runs, options) => {
      const { watch } = await import('../commands/watch.ts');
      await done(watch(runs, checked(options), context));
    });
};

export const wireList: Wire = (command, { done, context }) => {
  withOptions(command, 'output', 'settings')
    .addOption(createOption(['--limit <n>', 'how many at the most (default: 20)', whole(1, 1_000_000)]))
    .option('-a, --automation <name>', 'only runs of this automation')
    .option('--state <state>', 'only runs last seen in this state')
    .option('--all-addresses', 'runs of other base addresses too')
    .action(async (options) => {
      const { list } = await import('../commands/list.ts');
      await done(list(checked(options), context));
    });
};

export const wireRecover: Wire = (command, { done, context }) => {
  withOptions(command, 'patience', 'output', 'settings')
    .option('--dry-run', 'only list them')
    .addOption(
      createOption([
        '--max-age <duration>',
        `older ones are not asked for again (default: ${typed(defaults.keyRetentionMs)})`,
        duration,
        'maxAgeMs',
      ]),
    )
    .option('--forget', 'close those that are too old')
    .action(async (options) => {
      const { recover } = await import('../commands/recover.ts');
      await done(recover(checked(options), context));
    });
};
