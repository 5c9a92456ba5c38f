import { completionScripts } from '../completion/scripts.ts';
import type { Shell } from '../completion/shell-line.ts';
import type { Context } from '../context.ts';

/** `runctl completion <shell>`: prints the script that teaches the shell. */
export async function completion(shell: Shell, { stdout }: Context): Promise<number> {
  stdout.write(completionScripts[shell]);
  return 0;
}
