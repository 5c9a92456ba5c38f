import type { Context, Env } from '../context.ts';

/** What a terminal can show outside of its text: progress on the taskbar, a notification, a bell. */
export interface Attention {
  /** How far it is, from 0 to 1, or undefined where nobody knows. */
  progress(share: number | undefined): void;
  /** Says that all is over, to somebody who looks elsewhere. */
  over(sentence: string): void;
  stop(): void;
}

const bell = '\u0007';
const end = '\u001B\\';

/** Somebody who has waited for so long has turned to something else. */
const longWaitMs = 10_000;

/** By environment, since a terminal cannot be asked: one that does not know a sequence may print it. */
export function createAttention(bellWanted: boolean, { terminal, env, clock }: Context): Attention {
  const write = (sequence: string) => terminal.write(sequence);
  const onTaskbar = showsProgress(env);
  const notification = notificationOf(env);
  const startMs = clock.elapsedMs();
  let shown = '';

  const show = (state: string) => {
    if (!onTaskbar || state === shown) return;
    shown = state;
    write(`\u001B]9;4;${state}${end}`);
  };
  return {
    progress: (share) => show(share === undefined ? '3;0' : `1;${Math.floor(100 * share)}`),
    over(sentence) {
      if (bellWanted) write(bell);
      if (notification && clock.elapsedMs() - startMs >= longWaitMs) write(notification(sentence));
    },
    stop() {
      if (shown !== '') show('0;0');
    },
  };
}

/** A multiplexer stands between us and the terminal whose variables these are. */
const isDirect = ({ TMUX, STY, TERM }: Env) => !TMUX && !STY && !/^(tmux|screen|dumb|linux)/.test(TERM ?? '');

/** Operating System Command 9;4, which ConEmu brought. An iTerm2 that does not know it shows a notification instead. */
function showsProgress(env: Env): boolean {
  if (!isDirect(env)) return false;
  const { TERM_PROGRAM, TERM_FEATURES = '', WT_SESSION, ConEmuANSI, VTE_VERSION } = env;
  if (TERM_PROGRAM === 'iTerm.app') return /P(?![a-z])/.test(TERM_FEATURES);
  if (Number(VTE_VERSION) >= 7900) return true;
  return Boolean(WT_SESSION) || ConEmuANSI === 'ON' || TERM_PROGRAM === 'WezTerm' || TERM_PROGRAM === 'ghostty';
}

/** Operating System Commands 99 (kitty), 777 (urxvt, foot) and 9 (iTerm2 and those that followed it). */
function notificationOf(env: Env): ((sentence: string) => string) | undefined {
  if (!isDirect(env)) return undefined;
  const { TERM = '', TERM_PROGRAM } = env;
  if (TERM === 'xterm-kitty') return (sentence) => `\u001B]99;;${sentence}${end}`;
  if (/^(rxvt-unicode|foot)/.test(TERM)) return (sentence) => `\u001B]777;notify;runctl;${sentence}${end}`;
  const knows9 = ['iTerm.app', 'WezTerm', 'ghostty'];
  return knows9.includes(TERM_PROGRAM ?? '') ? (sentence) => `\u001B]9;${sentence}${end}` : undefined;
}
