import type { Env } from '../context.ts';

/** May this stream be coloured? FORCE_COLOR, then NO_COLOR, then what the stream is: the order Node itself follows. */
export function hasColors(stream: { isTTY?: boolean }, env: Env): boolean {
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  if (env.NO_COLOR) return false;
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** Can more than ASCII be shown? By the locale, as libc reads it; the Linux console and `dumb` cannot. */
export function hasUnicode(env: Env): boolean {
  if (env.TERM === 'linux' || env.TERM === 'dumb') return false;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return /utf-?8/i.test(locale) || Boolean(env.WT_SESSION || env.TERM_PROGRAM);
}
