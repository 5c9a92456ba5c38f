import { mayBeEarlier } from '../run/evidence.ts';
import {
  exitNameOf,
  type Fault,
  type FaultKind,
  httpOf,
  isInterruption,
  reasonOf,
  remedyOf,
  retryAfterHint,
} from '../run/fault.ts';
import { longestIdempotencyKey } from '../run/limits.ts';
import type { OutcomeOf, Seen, Start, WatchEnd } from '../run/outcome.ts';
import type { Words } from '../run/problem.ts';
import { shellWord } from '../run/quote.ts';
import { fullNameOf, nameOf, type Run } from '../run/run.ts';
import { endedWell, isKnownStatus } from '../run/statuses.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import { didYouMeanLine } from './of-trigger.ts';
import type { Voice } from './voice.ts';

/** Why a run wasn't followed to its end. */
export function wordsOfEnd({ run, start, end, seen, isRecorded }: OutcomeOf<'stopped'>, voice: Voice): Words {
  switch (end.kind) {
    case 'timed_out':
      return wordsOfTimeout(run, end, seen, voice);
    case 'gave_up':
      return wordsOfSilence(run, end, seen, voice);
    case 'refused':
      return isForgottenRunOfKey(end.fault, start)
        ? wordsOfForgottenRun({ run, start, fault: end.fault, seen }, ' --watch')
        : wordsOfRefusedPoll(run, end.fault, { seen, isRecorded }, voice);
    case 'interrupted':
      return {
        message: `stopped watching ${nameOf(run.target)}; the run continues${askedWait(end.askedUntilMs)}`,
        hint: resume(run, voice),
      };
  }
}

const again = (command: string, run: Run, { argumentOf }: Voice) => `\`runctl ${command} ${argumentOf(run)}\``;
const resume = (run: Run, voice: Voice) => again('watch', run, voice);

const askedWait = (untilMs: number | undefined): string =>
  untilMs === undefined ? '' : ` (it was waiting until ${localTime(untilMs)}, as the service had asked)`;

const lastSeen = (seen: Seen | undefined) =>
  seen ? `last confirmed ${seen.status.status} ${formatDuration(seen.ageMs)} ago` : 'its status was never confirmed';

function wordsOfTimeout(
  run: Run,
  { passedMs, fault }: Extract<WatchEnd, { kind: 'timed_out' }>,
  seen: Seen | undefined,
  voice: Voice,
): Words {
  const wait = fault && retryAfterHint(fault);
  const why = fault ? `: ${fault.message}` : '';
  const http = fault ? httpOf(fault) : '';
  return {
    message: `stopped watching ${nameOf(run.target)} after ${formatDuration(passedMs)}${why}; ${whetherItContinues(seen)}${lastSeen(seen)}${http}`,
    hint: wait ? `${wait}, then: ${resume(run, voice)}` : resume(run, voice),
  };
}

function whetherItContinues(seen: Seen | undefined): string {
  if (seen?.status.isFinal) return '';
  const isKnown = seen === undefined || isKnownStatus(seen.status.status);
  return isKnown ? 'the run continues, ' : 'the run may have finished, ';
}

function wordsOfSilence(
  run: Run,
  { giveUpAfterMs, fault }: Extract<WatchEnd, { kind: 'gave_up' }>,
  seen: Seen | undefined,
  voice: Voice,
): Words {
  const wait = retryAfterHint(fault);
  const silence = `no valid response for ${formatDuration(giveUpAfterMs)}, ${fault.message}`;
  const failure = `${nameOf(run.target)} couldn't be followed: ${silence}`;
  return {
    message: `${failure}; the run may still be running, ${lastSeen(seen)}${httpOf(fault)}`,
    hint: wait ? `${wait}, then: ${resume(run, voice)}` : (fault.hint ?? resume(run, voice)),
  };
}

/** After the API key is replaced, the run can be watched again. */
function wordsOfRefusedPoll(run: Run, fault: Fault, known: { seen?: Seen; isRecorded?: boolean }, voice: Voice): Words {
  const words = wordsOfUnread({ run, operation: 'status', fault, ...known }, voice);
  if (exitNameOf(fault) !== 'unauthorized') return words;
  return { ...words, hint: `${words.hint}, then: ${resume(run, voice)}` };
}

/** Why a status or a result couldn't be read. */
export function wordsOfUnread(outcome: Omit<OutcomeOf<'unread'>, 'kind' | 'target'>, voice: Voice): Words {
  const { run, start, operation, fault, seen, isOutage } = outcome;
  if (isForgottenRunOfKey(fault, start)) return wordsOfForgottenRun({ run, start, fault, seen });
  const isMissing = exitNameOf(fault) === 'not_found' && !fault.page;
  if (isInterruption(fault)) return { message: 'interrupted', hint: again(operation, run, voice) };
  const state = seen ? `, ${lastSeen(seen)}` : '';
  const unread = `the ${operation} of ${nameOf(run.target)} couldn't be read: ${fault.message}; the run is not affected${state}`;
  const message = (isMissing ? missing(run, fault, seen) : unread) + httpOf(fault);
  const retry = again(operation, run, voice);
  if (isOutage) return { message, hint: `the service or the network may be down; try again: ${retry}` };
  const hint = fault.hint ?? retryAfterHint(fault) ?? remedyOf(fault);
  return { message, hint: hint ?? (isMissing ? whyMissing(run, outcome.isRecorded, voice) : retry) };
}

/** Is it a run that an idempotency key started which the user gave, and that the service doesn't know any more? */
const isForgottenRunOfKey = ({ kind }: Fault, start: Start | undefined): start is Start =>
  kind === 'not_found' && start !== undefined && mayBeEarlier(start.evidence);

interface ForgottenRun {
  run: Run;
  start: Start;
  fault: Fault;
  seen?: Seen;
}

/** The key that started it never starts another run, so only a new one does. */
function wordsOfForgottenRun({ run, start, fault, seen }: ForgottenRun, flag = ''): Words {
  const { idempotencyKey } = start;
  const name = nameOf(run.target);
  const state = seen ? `, ${lastSeen(seen)}` : '';
  // Whoever repeats the command gets the same key, and so the same run.
  const newKey = `${idempotencyKey?.slice(0, longestIdempotencyKey - 2)}-2`;
  const trigger = `runctl trigger ${shellWord(fullNameOf(run.target))}${flag} --idempotency-key ${shellWord(newKey)}`;
  return {
    message: `the service doesn't know run ${run.executionId} of ${name}, which the idempotency key ${idempotencyKey} started${state}${httpOf(fault)}`,
    hint: `if you still want this run, trigger again with a new idempotency key: \`${trigger}\``,
  };
}

function missing(run: Run, fault: Fault, seen: Seen | undefined): string {
  if (seen) return `the service doesn't know run ${run.executionId} of ${nameOf(run.target)}, ${lastSeen(seen)}`;
  const orElse = fault.kind === 'path_not_found' ? ', or the base URL is wrong' : '';
  return `${nameOf(run.target)} has no run ${run.executionId}${orElse}`;
}

const newKeyHint = 'if you still want this run, trigger again with a new idempotency key';

/** What to do about a run that the service doesn't know. `isRecorded`: the API key that asked is the one that started it. */
function whyMissing({ target }: Run, isRecorded: boolean | undefined, voice: Voice): string {
  if (isRecorded) return `perhaps the service was restored from a backup; ${newKeyHint}`;
  const listed = voice.hasJournal ? '; `runctl list` shows the runs of this machine' : '';
  return `${didYouMeanLine(nameOf(target), voice)}check the id, the project and the automation${listed}`;
}

/** The run has finished, but its result couldn't be read, or the user didn't wait for it. Undefined if that changes nothing. */
export function wordsOfUnreadResult({ run, status, unread }: OutcomeOf<'known'>, voice: Voice): Words | undefined {
  if (!unread) return undefined;
  const happened = `${nameOf(run.target)} finished ${status.status}, but its result`;
  const hint = again('result', run, voice);
  if (isInterruption(unread)) return { message: `interrupted; ${happened} was not read`, hint };
  if (!endedWell(status.status)) return undefined;
  const hints: Partial<Record<FaultKind, string>> = {
    too_large: `results of up to 64 MiB can be read; to see the run: ${again('status', run, voice)}`,
    unauthorized: unread.hint ?? remedyOf(unread),
  };
  return {
    message: `${happened} couldn't be read: ${reasonOf(unread)}`,
    hint: hints[unread.kind] ?? unread.hint ?? retryAfterHint(unread) ?? hint,
  };
}
