import { arch, version as node, platform } from 'node:process';
import { version } from '../../package.json';
import { maskApiKey } from '../config/api-key.ts';
import { readConfigFile } from '../config/config-file.ts';
import { resolveConfigFile } from '../config/paths.ts';
import { shortSource } from '../config/profile.ts';
import { type Resolved, unknownVariables, valueIfGiven } from '../config/setting-table.ts';
import { need, resolveSettings } from '../config/settings.ts';
import { Problem } from '../problems/problem.ts';
import { quote } from '../problems/quote.ts';
import { type Finding, failed, type Machine, ok, warning } from './finding.ts';

export function* checkProgram({ context }: Machine): Generator<Finding> {
  for (const name of unknownVariables(context.env))
    yield warning('environment', `${name} is set, but isn't a variable of runctl`, 'see `runctl help settings`');
  yield ok('program', `runctl ${version} in ${import.meta.dirname}, Node ${node} on ${platform}-${arch}`);
}

export function* checkConfigFile({ context }: Machine): Generator<Finding> {
  const { path, config, isExposed, distrust } = readConfigFile(resolveConfigFile(context.env));
  const profiles = Object.keys(config.profiles ?? {});
  if (distrust) throw distrust;
  else if (isExposed) yield warning('config_file', `others can read the API key in ${path}`, `\`chmod 600 ${path}\``);
  else if (!path) yield ok('config_file', 'none: HOME is not set');
  else
    yield ok('config_file', profiles.length > 0 ? `${path} (${profiles.map(quote).join(', ')})` : `not there: ${path}`);
}

export async function* checkSettings(machine: Machine): AsyncGenerator<Finding> {
  const settings = await resolveSettings(machine.flags, machine.context);
  machine.settings = settings;
  const { apiKey, baseUrl, profile, project, requestTimeout, idempotencyKeys } = settings;
  yield finding('profile', profile, () => profile.value);
  yield finding('base_url', baseUrl, () => need('baseUrl', settings));
  const use = apiKey.source?.startsWith('profile ') ? "sent only to that profile's base URL" : undefined;
  yield finding('api_key', withoutSecrets(apiKey), () => apiKey.command ?? need('apiKey', settings), use);
  const named = finding('project', project, () => valueIfGiven(project));
  const isMissing = named.result === 'ok' && project.value === undefined;
  yield isMissing ? warning('project', 'not set: needed for automations given by name', setProject) : named;
  yield finding('request_timeout', requestTimeout, () => need('requestTimeout', settings));
  yield finding('idempotency_keys', idempotencyKeys, () => valueIfGiven(idempotencyKeys));
}

const setProject = 'store it with `runctl config set project <uuid>`, or name automations as <projectId>/<name>';

/** The API key as shown. A command's text is hidden as well, because it may contain a token. */
function withoutSecrets({ command, value, source }: Resolved<string>): Resolved {
  return { source, text: command === undefined ? value && maskApiKey(value) : 'printed by a command' };
}

function finding(name: string, { text, source }: Resolved, require: () => unknown, use?: string): Finding {
  try {
    require();
  } catch (error) {
    const isMissing = text === undefined && source === undefined;
    if (error instanceof Problem) return failed(name, isMissing ? error.with({ message: 'not set' }) : error);
    throw error;
  }
  if (text === undefined) return ok(name, 'not set');
  return ok(name, `${text} (${shortSource(source)})${use ? `, ${use}` : ''}`);
}
