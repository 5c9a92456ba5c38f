import { closeSync, constants, createReadStream, fstatSync, openSync, statSync } from 'node:fs';
import { getBuiltinModule } from 'node:process';
import type { Readable } from 'node:stream';
import type { CommandContext } from '../context.ts';
import { Problem, usageProblem } from '../run/problem.ts';
import type { CurrentProfile } from './profile.ts';
import {
  flagSource,
  type Given,
  parseSetting,
  type Resolved,
  type ResolvedApiKey,
  settingTable,
} from './table.ts';
import { unlessInterrupted } from './unless-interrupted.ts';
import { bareValue, flawOfWrapped } from './wrapped-text.ts';

/**
 * An API key as shown: its last four characters, or none if the key is so short that they would
 * reveal it.
 */
export const maskApiKey = (apiKey: string): string =>
  apiKey.length < 12 ? '****' : `****${apiKey.slice(-4)}`;

/** Distinguishes API keys without containing one: eight hexadecimal digits. */
export function accountOf(apiKey: string): string {
  // Loaded here because loading takes time, and commands such as `status` need no hash.
  const { createHash } = getBuiltinModule('node:crypto');
  return createHash('sha256').update(`runctl-account:${apiKey}`).digest('hex').slice(0, 8);
}

/**
 * Reads the first source that is set: flag, variables, profile. Doesn't run a command. Throws the
 * interrupted problem.
 */
export async function resolveApiKey(
  apiKeyFile: string | undefined,
  command: Resolved<string>,
  { stored, storedSource }: CurrentProfile,
  context: CommandContext,
): Promise<ResolvedApiKey> {
  const { env } = context;
  const source = flagSource('apiKey');
  if (apiKeyFile === '-') return readApiKeyInput(source, context);
  if (apiKeyFile !== undefined) return fromFile(apiKeyFile, source, context);
  const [keyVariable, fileVariable = ''] = settingTable.apiKey.env;
  const [commandVariable] = settingTable.apiKeyCommand.env;
  const variables = [keyVariable, fileVariable, commandVariable].filter((name) => env[name]);
  const [first, second] = variables;
  if (first && second) {
    const message = `${first} and ${second} both give the API key`;
    return { source: first, problem: usageProblem(message, 'unset one of them') };
  }
  if (env[keyVariable]) return acceptApiKey(env[keyVariable], keyVariable, context);
  if (env[fileVariable]) return fromFile(env[fileVariable], fileVariable, context);
  // A stored API key has priority over a command that is stored with it, but not over another one.
  const isOtherCommand = command.source !== undefined && command.source !== storedSource;
  if (stored.apiKey && !isOtherCommand) return acceptApiKey(stored.apiKey, storedSource, context);
  return { command: command.value, source: command.source, problem: command.problem };
}

/**
 * Throws a usage problem if one of these texts, which will be sent or recorded, contains a known
 * API key.
 */
export function refuseApiKeyIn(texts: readonly unknown[], { secrets }: CommandContext): void {
  const holdsSecret = (text: unknown) => typeof text === 'string' && secrets.scrub(text) !== text;
  if (!texts.some(holdsSecret)) return;
  throw usageProblem(
    'the API key is part of another value; nothing was sent',
    'leave it out of the command line',
  );
}

/**
 * Checks an API key after it was registered to be hidden in all output. Every API key that is read
 * passes through here first.
 */
export function acceptApiKey(
  text: string,
  source: string,
  { secrets }: CommandContext,
): Given<string> {
  for (const secret of [text.trim(), bareValue(text)]) secrets.protect(secret);
  return parseSetting('apiKey', text, source);
}

/**
 * Reads the API key from standard input, or asks for it on a terminal. Throws the interrupted
 * problem.
 */
export async function readApiKeyInput(
  source: string,
  context: CommandContext,
): Promise<Given<string>> {
  const stdin = context.stdin();
  if (!stdin.isTTY)
    return acceptText(readApiKey(stdin, 'the API key on standard input', context), source, context);
  if (!context.isInteractive()) {
    // Reading from the terminal would stop a command in the background, and show what is typed
    // after `fg`.
    const message = "can't ask for the API key in the background or with CI set";
    return {
      source,
      problem: usageProblem(message, 'read it from a file, with `< <file>` at the end of the line'),
    };
  }
  const { askHidden } = await import('./prompts.ts');
  return acceptText(askHidden('API key: ', context), source, context);
}

async function fromFile(
  path: string,
  source: string,
  context: CommandContext,
): Promise<ResolvedApiKey> {
  const wrapped = flawOfWrapped(path);
  if (wrapped) {
    const message = `the path of the key file (${source}) ${wrapped.flaw}`;
    return { source, problem: usageProblem(message, wrapped.hint) };
  }
  const read = () => acceptText(readKeyFile(path, source, context), source, context);
  // A pipe can be read only once, so its content can't be read again later.
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return { ...(await read()), reread: isFile ? read : undefined };
}

/** Reads a key file or a pipe. Throws a usage problem or the interrupted problem. */
async function readKeyFile(path: string, source: string, context: CommandContext): Promise<string> {
  // A word without a slash or an extension may be the API key itself, so the message doesn't repeat
  // it.
  const isPath = /\/|\.[a-z]{2,4}$/i.test(path);
  const name = isPath ? `the key file ${path}` : `the key file (${source})`;
  const done = new AbortController();
  let stream: Readable | undefined;
  try {
    const opened = await openKeyFile(path);
    stream = opened.stream;
    const reading = readApiKey(stream, name, context);
    if (!opened.isPipe) return await reading;
    return await Promise.race([reading, rejectAfterSilence(name, done.signal, context)]);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') {
      throw usageProblem(
        isPath
          ? `there is no file ${path} (${source})`
          : `there is no file with the name in ${source}`,
        'give the path of a file that contains the API key and nothing else',
      );
    }
    throw usageProblem(
      `${name} can't be read (${code ?? message})`,
      'the file must contain the API key and nothing else',
    );
  } finally {
    done.abort();
    // The first line is enough. What is written to the pipe later is for another reader.
    stream?.destroy();
  }
}

const maxSilenceMs = 30_000;

async function rejectAfterSilence(
  file: string,
  done: AbortSignal,
  { clock }: CommandContext,
): Promise<never> {
  await clock.sleep(maxSilenceMs, done);
  throw usageProblem(
    `${file} is a pipe, and nothing was written to it`,
    'write the API key to it, and close it',
  );
}

/**
 * Opens without waiting. A thread that opens a pipe without a writer would keep the process from
 * exiting.
 */
async function openKeyFile(path: string): Promise<{ stream: Readable; isPipe: boolean }> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  const stat = fstatSync(fd);
  if (stat.isFile()) return { stream: createReadStream('', { fd }), isPipe: false };
  if (!stat.isFIFO()) {
    closeSync(fd);
    throw new Error('it is neither a file nor a pipe');
  }
  const { Socket } = await import('node:net');
  return { stream: new Socket({ fd, writable: false }), isPipe: true };
}

const maxBytes = 64 * 1024;

/**
 * Reads all of a stream. Throws a usage problem if it is too large or unreadable, the interrupted
 * one on a signal.
 */
function readApiKey(
  stream: AsyncIterable<string | Buffer>,
  what: string,
  { signal }: CommandContext,
): Promise<string> {
  const hint = 'give the API key and nothing else';
  const read = async () => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream) {
      const part = Buffer.from(chunk as Buffer);
      bytes += part.length;
      if (bytes > maxBytes)
        throw usageProblem(`${what} is larger than ${maxBytes / 1024} KiB`, hint);
      chunks.push(part);
    }
    return Buffer.concat(chunks).toString('utf8');
  };
  const failed = (error: NodeJS.ErrnoException) => {
    // This happens, for example, if standard input is only open for writing.
    throw error.code === undefined
      ? error
      : usageProblem(`${what} can't be read (${error.code})`, hint);
  };
  return unlessInterrupted(read().catch(failed), signal);
}

async function acceptText(
  reading: Promise<string>,
  source: string,
  context: CommandContext,
): Promise<Given<string>> {
  try {
    return acceptApiKey(await reading, source, context);
  } catch (error) {
    if (error instanceof Problem && error.facts.name === 'usage') return { source, problem: error };
    throw error;
  }
}
