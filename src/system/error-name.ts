import { getBuiltinModule } from 'node:process';

/**
 * The name of a system error, such as ENOSPC. Node only knows the numbers of some, such as EDQUOT
 * and ESTALE.
 */
export function systemErrorName(error: unknown): string | undefined {
  const { code, errno } = error as NodeJS.ErrnoException;
  if (errno === undefined || /^E[A-Z0-9]+$/.test(code ?? '')) return code;
  const numbers = Object.entries(getBuiltinModule('node:os').constants.errno);
  return numbers.find(([, number]) => number === Math.abs(errno))?.[0] ?? code;
}

/**
 * What a system error says, as `ENOSPC: no space left on device, write`. If Node has no text for
 * it, only its name.
 */
export function systemErrorText(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const name = systemErrorName(error);
  return name === undefined || name === code ? message : name;
}
