// What the answers of the service show of each assumption of docs/service.md, and the scenario that answers like it.
const finalStatuses = ['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'];
const soonMs = 30_000;

/** `verdict`: `yes` (it holds), `no`, or `unseen`. */
export function findings(seen) {
  const { doctor, missing, wrongKey, trial, first, conflict, again, records } = seen;
  const finding = (name, verdict, note) => ({ name, verdict, note });
  const holds = (isTrue) => (isTrue === undefined ? 'unseen' : isTrue ? 'yes' : 'no');
  const [treatment] = trial.document.runctl?.doctor ?? [];
  const clock = doctor.document.runctl?.doctor?.find(({ name }) => name === 'clock');
  const missed = lastOf(records, 'missing');
  const refused = lastOf(records, 'wrongKey');
  const run = timesOf(seen);
  const { status } = run;
  const limited = records.filter(({ status: code }) => code === 429).length;
  const pages = records.filter(({ text = '' }) => /^\s*<(!doctype|html)/i.test(text)).length;
  const wrong = status && wrongFields(status);
  const statuses = [...new Set(records.map(({ json }) => json?.status).filter((each) => typeof each === 'string'))];
  const strange = statuses.filter((each) => ![...finalStatuses, 'RUNNING'].includes(each));
  const namedRun = conflict.document.runctl?.activeExecutionId;

  return [
    finding(
      'Idempotency keys work for Automations',
      trial.code === 0 ? holds(treatment?.result === 'ok') : 'unseen',
      treatment?.message,
    ),
    finding(
      'A key is remembered when its run has finished',
      again.id && first.id ? holds(same(again.id, first.id)) : 'unseen',
      again.id ? undefined : reasonOf(again),
    ),
    finding(
      'A conflict names the active run',
      conflict.code === 5 ? holds(same(namedRun, first.id)) : 'unseen',
      conflict.code === 5 ? undefined : 'the second trigger was not refused',
    ),
    finding(
      'A missing run is a 422 in JSON',
      holds(missed && missed.status === 422 && !!missed.json),
      answerOf(missed),
    ),
    finding('A wrong API key is a 401 or 403', holds(refused && wrongKey.code === 7), answerOf(refused)),
    finding(
      'New runs are found within 30 seconds',
      holds(first.id ? run.foundMs !== undefined && run.foundMs <= soonMs : undefined),
      run.foundMs === undefined ? undefined : `after ${seconds(run.foundMs)}`,
    ),
    finding('Statuses are the documented ones', holds(status ? strange.length === 0 : undefined), strange.join(', ')),
    finding('Final statuses stay', holds(run.isStable)),
    finding(
      'The result is ready within 30 seconds of the final status',
      holds(run.isStable === undefined ? undefined : run.resultMs !== undefined && run.resultMs <= soonMs),
      run.resultMs === undefined ? undefined : `after ${seconds(run.resultMs)}`,
    ),
    finding(
      'Error bodies have a usual shape',
      missed?.json ? holds(missing.document.runctl?.problem?.serviceCode !== undefined) : 'unseen',
    ),
    finding(
      'No proxy or gateway answers for the service',
      holds(pages === 0),
      pages ? `${pages} HTML pages` : undefined,
    ),
    finding('The documented fields have their types', holds(wrong && wrong.length === 0), wrong?.join(', ')),
    finding('Times without an offset are UTC', holds(run.offMs === undefined ? undefined : run.offMs < 300_000)),
    finding(
      'The clocks agree',
      clock?.result === 'ok' ? 'yes' : clock?.result === 'warning' ? 'no' : 'unseen',
      clock?.result === 'ok' ? undefined : clock?.message,
    ),
    finding('Credits are reported', holds(status && typeof status.creditsCharged === 'number')),
    finding('Five triggers are no reason for a 429', holds(limited === 0), limited ? `${limited} times` : undefined),
    finding('Nothing repeats a POST', 'unseen', "look in the service for runs that aren't in the list below"),
  ];
}

const same = (one, other) => one?.toLowerCase() === other?.toLowerCase() && one !== undefined;
const seconds = (ms) => `${Math.round(ms / 100) / 10} s`;
const answerOf = (record) => (record?.status ? `HTTP ${record.status}` : undefined);
const reasonOf = ({ document }) => document.runctl?.problem?.message;
const lastOf = (records, step) => records.findLast((record) => record.step === step && record.status !== undefined);

/** The course of the run whose key was given, as its polls showed it. */
function timesOf({ first, records, status: { id } }) {
  const about = records.filter(({ path, method }) => method === 'GET' && id && path.includes(id));
  const polls = about.filter(({ path, status }) => !path.endsWith('/result') && status === 200);
  const results = about.filter(({ path, status }) => path.endsWith('/result') && status === 200);
  const isFinal = ({ json }) => finalStatuses.includes(json?.status);
  const trigger = records.find(({ step, method }) => step === 'first' && method === 'POST');
  const end = polls.find(isFinal);
  const result = results.find(isFinal);
  const status = polls.at(-1)?.json;
  const started = status?.createdAt ?? status?.startedAt;
  const isLate = polls.some((poll) => end && poll.atMs > end.atMs && poll.json?.status !== end.json.status);
  return {
    status,
    result: result?.json,
    foundMs: first.id && polls[0] && trigger ? polls[0].atMs - trigger.atMs : undefined,
    isStable: end ? !isLate : undefined,
    resultMs: end && result ? result.atMs - end.atMs : undefined,
    offMs: started && trigger?.date ? Math.abs(Date.parse(withOffset(started)) - Date.parse(trigger.date)) : undefined,
  };
}

const withOffset = (time) => (/(Z|[+-]\d\d:?\d\d)$/i.test(time) ? time : `${time}Z`);

const types = {
  ...{ executionId: 'string', projectId: 'string', automationName: 'string', status: 'string' },
  ...{ startedAt: 'string', completedAt: 'string', createdAt: 'string' },
};

const wrongFields = (status) =>
  Object.entries(types).flatMap(([name, type]) =>
    typeof status[name] === type ? [] : `${name} is ${typeof status[name]}`,
  );

/** A scenario in which the emulator answers as the service did: without keys, ids and what the run printed. */
export function scenarioOf(seen) {
  const { trial, first, conflict, records } = seen;
  const { status, result, foundMs, resultMs } = timesOf(seen);
  const scrub = scrubber(records);
  const repeats = records.filter(({ step, method }) => step === 'trial' && method === 'POST');
  const [treatment] = trial.document.runctl?.doctor ?? [];
  const { stepCount: count, failedSteps: failed, skippedSteps: skipped } = result?.summary ?? {};
  const lastsMs = Date.parse(status?.completedAt) - Date.parse(status?.startedAt);
  const plan = {
    duration: Number.isFinite(lastsMs) ? `${Math.max(lastsMs, 1)}ms` : undefined,
    outcome: finalStatuses.includes(status?.status) ? status.status : undefined,
    output: result?.output === null || result === undefined ? undefined : `${String(result.output).length} characters`,
    steps: Number.isInteger(count) ? { count, failed, skipped } : undefined,
    error: result?.error
      ? { type: String(result.error.type), message: scrub(String(result.error.message)) }
      : undefined,
    creditsCharged: typeof status?.creditsCharged === 'number' ? status.creditsCharged : undefined,
    statusLate: foundMs > 5000 ? `${foundMs}ms` : undefined,
    resultLate: resultMs > 5000 ? `${resultMs}ms` : undefined,
    extra: status && unknownFields(status, scrub),
  };
  const named = conflict.document.runctl?.activeExecutionId;
  return {
    automations: { '*': plan },
    order: repeats[1]?.status >= 400 ? 'activeFirst' : undefined,
    idempotencyKeys: trial.code === 0 && treatment?.result !== 'ok' ? 'ignored' : undefined,
    namesActiveRun: (named !== undefined && same(named, first.id)) || undefined,
    refusals: {
      notFound: refusalOf(lastOf(records, 'missing')),
      invalidApiKey: refusalOf(lastOf(records, 'wrongKey')),
      runAlreadyActive: refusalOf(
        records.findLast(({ step, method }) => step === 'conflict' && method === 'POST'),
        named,
      ),
    },
  };

  /** The run that a conflict names is another one each time. */
  function refusalOf(record, active) {
    if (!(record?.status >= 400)) return undefined;
    const text = active ? record.text.replaceAll(active, '{executionId}') : record.text;
    const body = scrub(text);
    return { status: record.status, body: record.json ? JSON.parse(body) : body };
  }
}

/** Replaces ids by numbered ones, the same by the same, and API keys and idempotency keys by a word. */
function scrubber(records) {
  const ids = new Map();
  const secrets = [...new Set(records.flatMap((record) => record.secrets).filter(Boolean))];
  return (text) =>
    secrets
      .reduce((rest, secret) => rest.replaceAll(secret, 'scrubbed'), text)
      .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/gi, (id) => {
        const lower = id.toLowerCase();
        if (!ids.has(lower)) ids.set(lower, `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`);
        return ids.get(lower);
      });
}

const documented = [...Object.keys(types), 'title', 'message', 'creditsCharged'];

/** What the service adds to its documents, and null where it leaves out its credits. */
function unknownFields(status, scrub) {
  const unknown = Object.entries(status).filter(([name]) => !documented.includes(name));
  const extra = Object.fromEntries(unknown.map(([name, value]) => [name, JSON.parse(scrub(JSON.stringify(value)))]));
  if (typeof status.creditsCharged !== 'number') extra.creditsCharged = null;
  return Object.keys(extra).length > 0 ? extra : undefined;
}
