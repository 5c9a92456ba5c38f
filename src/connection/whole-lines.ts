const longestLine = 64 * 1024;
const mostOutput = 1024 * 1024;

/**
 * Passes on a shell command's output in complete lines. A spinner would draw over half a line, and half an API key or half
 * a CI runner command can't be recognized. For the same reason, a line that is too long is left out.
 */
export function createWholeLines(write: (text: string) => void) {
  let line = ''; // the one that has not ended yet
  let room = mostOutput;
  const show = (text: string) => {
    if (room <= 0) return;
    room -= text.length;
    write(room > 0 ? text : `${text}(the rest of its output is left out)\n`);
  };
  const shown = (text: string) => `${text.length > longestLine ? '(a line longer than 64 KiB is left out)' : text}\n`;
  return {
    push(text: string) {
      const [end = '', ...others] = text.split('\n');
      const lines = [line + end, ...others];
      line = (lines.pop() ?? '').slice(0, longestLine + 1);
      if (lines.length > 0) show(lines.map(shown).join(''));
    },
    end() {
      if (line !== '') show(shown(line));
      line = '';
    },
  };
}
