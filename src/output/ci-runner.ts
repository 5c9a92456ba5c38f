import type { Context, Invocation, Sink } from '../context.ts';

/** The context, in which nothing that is printed can give the runner of GitHub Actions a command. */
export function guardFromRunner<C extends Context>(context: C): C & Pick<Invocation, 'rawStdout'> {
  const { env, stdout, stderr } = context;
  if (env.GITHUB_ACTIONS !== 'true') return context;
  return { ...context, rawStdout: stdout, stdout: guarded(stdout), stderr: guarded(stderr) };
}

const guarded = (sink: Sink): Sink => ({ ...sink, write: (text) => sink.write(withoutCommands(text)) });

/** Breaks the commands of the runner: `::` and a name, and `##[` (actions/runner, ActionCommand.cs). */
export function withoutCommands(text: string): string {
  return text.replace(/:(?=:[a-z])/gi, ': ').replaceAll('##[', '## [');
}

/** The same JSON document without `##[` in its text. Its line begins with a bracket, so never with `::`. */
export const withoutCommandsInJson = (json: string): string => json.replaceAll('##[', '#\\u0023[');
