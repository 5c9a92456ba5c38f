import { type CommandContext, endedBy } from '../context.ts';
import type { HintContext } from '../messages/hint-context.ts';
import type { Ports } from '../ports.ts';
import { nearWords } from '../run/near-words.ts';
import { fullArgumentOf } from '../run/quote.ts';
import { type Run, randomUuid, type Target } from '../run/run.ts';
import type { Answer, RunSnapshot } from '../run/service.ts';
import type { Settings } from '../settings/resolve.ts';
import { automationsIn } from './known-automations.ts';
import { hasJournal } from './open-journal.ts';

/** What a command that connects works with: the ports, and what only commands use. */
export interface Connection extends Ports {
  context: CommandContext;
  settings: Settings;
  hintContext: HintContext;
  /**
   * Reads the API key. A command that prints it may be slow, so this is called before the time of a
   * request is measured.
   */
  readApiKey(): Promise<void>;
  /** How long the target's runs usually take, as `usually 5m`; undefined if that isn't known. */
  usualDuration(target: Target): string | undefined;
}

/**
 * Returns the same connection with another context, such as one whose reporter shows events on a
 * board.
 */
export function inContext(connection: Connection, context: CommandContext): Connection {
  return { ...connection, context, signal: context.signal, emit: context.reporter.emit };
}

/** The same connection, but its requests also end with this signal. */
export const alsoEndedBy = (connection: Connection, signal: AbortSignal): Connection =>
  inContext(connection, endedBy(connection.context, signal));

/**
 * Makes what hints need. In a suggested command, a run is named by its id if the journal of this
 * machine has it. In CI it is named in full, because the command is typed on another machine.
 */
export function hintContextOf({
  journal,
  baseUrl,
  context,
}: Pick<Connection, 'journal' | 'baseUrl' | 'context'>): HintContext {
  const { CI, GITHUB_ACTIONS } = context.env;
  return {
    hasJournal: hasJournal(context),
    namesLike(name) {
      // An automation that ran here has no typo in its name.
      const hasRun = journal.hasRunOf(name, baseUrl);
      return hasRun ? [] : nearWords(name, automationsIn({ journal, baseUrl }));
    },
    argumentOf(run) {
      const isHere =
        !CI && !GITHUB_ACTIONS && journal.find(run.executionId, { baseUrl }) !== undefined;
      return isHere ? run.executionId : fullArgumentOf(run);
    },
  };
}

/**
 * Asks for a run that can't exist, to check the settings without starting anything. If it isn't
 * found, the service is there and accepts the API key. If nobody could be reached, it tries once
 * more, because the second attempt waits longer for each address of a host.
 */
export async function probeService({
  service,
  settings,
  signal,
}: Connection): Promise<Answer<RunSnapshot>> {
  const { value: projectId = randomUuid() } = settings.project;
  const run: Run = {
    target: { projectId, automationName: 'runctl-settings-check' },
    executionId: randomUuid(),
  };
  const answer = await service.status(run, signal);
  const isUnreachable = answer.kind === 'fault' && answer.fault.kind === 'unreachable';
  return isUnreachable ? service.status(run, signal) : answer;
}
