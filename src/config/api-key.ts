import { constants, createReadStream, openSync, statSync } from 'node:fs';
import { getBuiltinModule } from 'node:process';
import type { Context } from '../context.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { readText } from './read-text.ts';
import { flagSource, type Given, parseSetting, type Resolved, settingTable } from './setting-table.ts';

const shownCharacters = 4;

/** An API key as it may be shown: its last four characters, or none of one that is so short that they would give it away. */
export function mask(apiKey: string): string {
  return `****${apiKey.length < 2 * shownCharacters ? '' : apiKey.slice(-shownCharacters)}`;
}

/** Distinguishes API keys without holding one: eight hexadecimal digits. */
export function accountOf(apiKey: string): string {
  // Loaded here, since a `status` needs none.
  const { createHash } = getBuiltinModule('node:crypto');
  return createHash('sha256').update(`runctl-account:${apiKey}`).digest('hex').slice(0, 8);
}

/**
 * Decides which source of the API key is in force (the flag, the variables, then the profile) and reads that one alone.
 * A source that cannot be read, or holds no API key, is a problem of the setting. Throws only when the user interrupts.
 */
export async function resolveApiKey(
  apiKeyFile: string | undefined,
  profile: { apiKey?: string; source: string },
  context: Context,
): Promise<Resolved> {
  const [variable, fileVariable = ''] = settingTable.apiKey.env;
  const { [variable]: text, [fileVariable]: path } = context.env;
  if (apiKeyFile === '-') return readApiKeyInput(flagSource('apiKey'), context);
  if (apiKeyFile !== undefined) return readApiKeyFile(apiKeyFile, flagSource('apiKey'), context);
  if (text) return acceptApiKey(text, variable, context);
  if (path) return readApiKeyFile(path, fileVariable, context);
  if (profile.apiKey) return acceptApiKey(profile.apiKey, profile.source, context);
  return {};
}

/** What every API key passes first, wherever it comes from: it is protected in all output, then checked. */
export function acceptApiKey(text: string, source: string, { secrets }: Context): Given {
  secrets.protect(text.trim());
  return parseSetting('apiKey', text, source);
}

/** The API key from standard input: asked for without echo on a terminal, read to the end from a pipe. */
export async function readApiKeyInput(source: string, context: Context): Promise<Given> {
  const { stdin } = context;
  if (!stdin.isTTY) return acceptText(readApiKey(stdin, 'the API key on standard input', context), source, context);
  const { askHidden } = await import('./prompts.ts');
  return acceptText(askHidden('API key: ', context), source, context);
}

/** The API key from a file of at most 64 KiB; a pipe will do (`<(pass show runctl)`). */
function readApiKeyFile(path: string, source: string, context: Context): Promise<Given> {
  const reading = async () => {
    try {
      return await readApiKey(await openKeyFile(path), `the key file ${path}`, context);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      throw usageProblem(`the key file ${path} cannot be read (${code})`, 'it must hold the API key and nothing else');
    }
  };
  return acceptText(reading(), source, context);
}

/**
 * A pipe that nobody writes to would block the thread that opens it, and the process could not end before that thread:
 * it is opened without waiting, and read as a socket is.
 */
async function openKeyFile(path: string): Promise<AsyncIterable<Buffer>> {
  if (!statSync(path).isFIFO()) return createReadStream(path);
  const { Socket } = await import('node:net');
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false });
}

const mostBytes = 64 * 1024;

const readApiKey = (stream: AsyncIterable<string | Buffer>, what: string, { signal }: Context) =>
  readText(stream, { what, mostBytes, hint: 'give the API key and nothing else' }, signal);

async function acceptText(reading: Promise<string>, source: string, context: Context): Promise<Given> {
  try {
    return acceptApiKey(await reading, source, context);
  } catch (error) {
    if (error instanceof Problem && error.facts.name === 'usage') return { source, problem: error };
    throw error;
  }
}
