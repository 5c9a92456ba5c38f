import { constants } from 'node:os';
import { kindOf } from '../api/classify.ts';
import { readErrorBody } from '../api/error-body.ts';
import { type ExitCode, type ExitName, exitCodeOf, exitCodes, resumeAdvice } from '../problems/exit-codes.ts';
import { errorTypes, remedyOfErrorType } from '../problems/next-step.ts';
import { causesOfUnknown } from '../problems/problem.ts';
import { deliveryOf, exitNameOf } from '../runs/fault.ts';
import { endings, finalStatusOf } from '../runs/statuses.ts';

export interface Explanation extends ExitCode {
  /** What the word is, if it isn't the name or the number of an exit code: `HTTP 422`. */
  term?: string;
}

/** Everything that a word on the screen can mean. */
export function explanationsOf(word: string): Explanation[] {
  const name = word.toLowerCase().replaceAll('-', '_');
  const rows = exitCodes.filter((row) => [String(row.code), row.name, row.name.replace(/^run_/, '')].includes(name));
  const all = [...rows, ...ofStatus(name), ...ofErrorType(name), ...ofHttp(word), ...ofSignal(word)];
  return all.filter(
    (one, at) => all.findIndex(({ code, meaning }) => code === one.code && meaning === one.meaning) === at,
  );
}

const rowOf = (name: ExitName) => exitCodes.filter(({ code }) => code === exitCodeOf(name));

/** Most final ones are the names of exit codes, too. */
function ofStatus(name: string): Explanation[] {
  const final = finalStatusOf(name);
  if (final && endings[final].exit !== `run_${name}`) return named(`status ${final}`, endings[final].exit);
  if (name === 'running') return named('status RUNNING', 'still_running');
  const isUnknown = ['unknown', ...causesOfUnknown].includes(name);
  return isUnknown ? named(`${name} in a document or a list`, 'outcome_unknown') : [];
}

function ofErrorType(name: string): Explanation[] {
  if (!errorTypes.includes(name)) return [];
  const remedy = remedyOfErrorType(name).replace(/^./, (letter) => letter.toUpperCase());
  const advice = `${remedy} \`runctl trigger <automation> --watch\``;
  const meaning = 'why a run failed; its status decides the exit code';
  return rowOf('run_failed').map((row) => ({ ...row, term: `error type ${name}`, meaning, advice }));
}

const bodies = ['{}', '{"code":"notFound"}', '{"code":"runAlreadyActive"}', '<html>'];

/** An HTTP status, whatever the service sends with it, or a code of the service. */
function ofHttp(word: string): Explanation[] {
  const isStatus = /^[345]\d\d$/.test(word);
  if (!isStatus && !/^[a-z_]{5,}$/i.test(word)) return [];
  const status = isStatus ? Number(word) : 422;
  const texts = isStatus ? bodies : [JSON.stringify({ code: word })];
  const kindsTo = (operation: 'trigger' | 'status') =>
    texts
      .flatMap((text) => [false, true].map((leadsToRun) => ({ status, body: readErrorBody(text), leadsToRun })))
      .map((refusal) => kindOf(refusal, operation))
      .filter((kind) => isStatus || kind !== 'rejected');
  const triggers = kindsTo('trigger');
  const inDoubt = triggers.some((kind) => deliveryOf({ kind, message: '', httpStatus: status }) === 'unknown');
  const names = new Set<ExitName>([...triggers, ...kindsTo('status')].map((kind) => exitNameOf({ kind })));
  if (inDoubt) names.add('outcome_unknown');
  const term = isStatus ? `HTTP ${word}` : `service code ${word}`;
  return [...names].flatMap((name) => named(term, name)).sort((one, other) => one.code - other.code);
}

function ofSignal(word: string): Explanation[] {
  const signals = Object.entries(constants.signals);
  const [name, number] =
    signals.find(([name, number]) => name === word.toUpperCase() || `${128 + number}` === word) ?? [];
  if (name === undefined || number === undefined) return [];
  const code = 128 + number;
  const own = exitCodes.filter((row) => row.code === code);
  if (own.length > 0) return word === String(code) ? [] : own.map((row) => ({ ...row, term: name }));
  const meaning = `killed by ${name}, which shells show as 128 + ${number}`;
  return [{ code, name, term: name, meaning, advice: resumeAdvice }];
}

const named = (term: string, name: ExitName): Explanation[] => rowOf(name).map((row) => ({ ...row, term }));
