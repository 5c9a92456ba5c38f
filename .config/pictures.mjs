// `node .config/pictures.mjs`: draws docs/*.svg from what the built program prints on a terminal.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'runctl-pictures-'));
const columns = 84;
const minuteMs = 60_000;

const colorNames = { 1: 'red', 2: 'green', 3: 'yellow', 6: 'cyan' };
/** On the picture's own dark ground, so that it can be read on any page. */
const colors = {
  '': '#e6edf3',
  dim: '#9198a1',
  red: '#ff7b72',
  green: '#56d364',
  yellow: '#e3b341',
  cyan: '#76e3ea',
};

const [cellWidth, lineHeight, padding] = [8.4, 20, 16];

const textOf = (line) => line.map(({ text }) => text).join('');
const typed = (command) => [...`$ ${command}`].map((text) => ({ text, look: '', isBold: 1 }));

/** A response to a trigger is lost: what the user sees, and what the service got. */
async function drawTrigger() {
  const emulate = ['emulator', '--scenario', 'lost-response', '--speed', '2'];
  const emulator = open(emulate, {});
  const started = await emulator.sees(/RUNCTL_BASE_URL=(\S+)/);
  const trigger = open(['trigger', 'nightly', '--watch'], environment(started[1]));
  await trigger.exit;
  const user = [typed('runctl trigger nightly --watch'), ...trigger.lines()];
  emulator.kill();
  const requests = emulator.lines().filter((line) => /^(GET|POST) /.test(textOf(line)));
  const service = [typed(`runctl ${emulate.slice(0, 3).join(' ')}`), ...requests];
  write('trigger', 'A trigger whose response is lost', [user, service]);
}

/** Three runs on one terminal: while they run, and once they have finished. */
async function drawBoard() {
  const { startEmulator } = await importSource('src/emulator/server.ts');
  let aheadMs = -3 * 24 * 60 * minuteMs;
  const { url, close } = await startEmulator({
    nowMs: () => Date.now() + aheadMs,
    automations: {
      export: { durationMs: 62 * minuteMs },
      nightly: { durationMs: 302_000 },
      'import-eu': { durationMs: 190_000, finalStatus: 'FAILED' },
    },
  });
  const env = environment(url);
  const type = (...words) => open(words, env).exit;
  // What it usually takes is known after three runs.
  for (const _ of [1, 2, 3]) {
    await type('trigger', 'nightly');
    aheadMs += 302_000;
    await type('status', 'nightly');
  }
  for (const [name, ageMinutes] of Object.entries({ export: 62, nightly: 4.2, 'import-eu': 1.1 })) {
    aheadMs = -ageMinutes * minuteMs;
    await type('trigger', name);
  }
  aheadMs = 0;
  const words = ['watch', 'nightly', 'import-eu', 'export', '--interval', '1s'];
  const watch = open(words, env);
  await watch.sees(/1 of 3 finished/);
  const command = typed(`runctl ${words.slice(0, 4).join(' ')}`);
  const board = [command, ...watch.lines()];
  aheadMs = 5 * minuteMs;
  await watch.exit;
  await close();
  write('board', 'Three runs on one terminal', [board, [command, ...watch.lines()]]);
}

/** Imports a TypeScript file. */
async function importSource(path) {
  const outfile = join(folder, 'source.mjs');
  const entryPoints = [join(root, path)];
  await build({ entryPoints, bundle: true, platform: 'node', format: 'esm', outfile });
  return import(outfile);
}

const environment = (url) => ({
  RUNCTL_BASE_URL: url,
  RUNCTL_API_KEY: 'emulator-key',
  RUNCTL_PROJECT: '00000000-0000-4000-8000-000000000001',
  RUNCTL_STATE_DIR: join(folder, url.replace(/\W+/g, '-')),
});

/** Runs the program on a terminal. */
function open(words, env) {
  const screen = new xterm.Terminal({ cols: columns, rows: 24, allowProposedApi: true });
  const child = spawn(process.execPath, [join(root, 'bin/runctl.js'), ...words], {
    cols: columns,
    rows: 24,
    env: { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', TERM: 'xterm', ...env },
  });
  child.onData((data) => screen.write(data));
  const exit = new Promise((resolve) => child.onExit(resolve));
  const lines = () => {
    const { active } = screen.buffer;
    const all = Array.from({ length: active.length }, (_, y) => cellsOf(active.getLine(y)));
    return all.slice(0, all.findLastIndex((line) => textOf(line).trim() !== '') + 1);
  };
  return {
    // What was written is on the screen only after a while.
    exit: exit.then(() => sleep(200)),
    kill: () => child.kill(),
    lines,
    async sees(pattern) {
      for (;;) {
        const found = pattern.exec(lines().map(textOf).join('\n'));
        if (found) return found;
        await sleep(50);
      }
    },
  };
}

/** Each cell with its look: a name of `colors`, or none. */
function cellsOf(line) {
  return Array.from({ length: columns }, (_, x) => {
    const cell = line.getCell(x);
    const color = cell.isFgDefault() ? '' : (colorNames[cell.getFgColor()] ?? '');
    return {
      text: cell.getChars() || ' ',
      look: cell.isDim() ? 'dim' : color,
      isBold: cell.isBold(),
    };
  });
}

/** Panes below each other, as SVG. */
function write(name, title, panes) {
  const width = columns * cellWidth + 2 * padding;
  let top = 0;
  const parts = panes.map((lines) => {
    const height = lines.length * lineHeight + 2 * padding;
    const ground = `<rect x="0.5" y="${top + 0.5}" width="${width - 1}" height="${height - 1}" rx="8"/>`;
    const texts = lines.map((line, y) => textElements(line, top + padding + y * lineHeight + 14));
    top += height + 12;
    return [ground, ...texts].filter(Boolean).join('\n');
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top - 12}" width="${width}" role="img">
<title>${title}</title>
<style>
rect { fill: #0d1117; stroke: #6e7681 }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace }
</style>
${parts.join('\n')}
</svg>
`;
  writeFileSync(join(root, `docs/${name}.svg`), svg);
}

/** An element for each stretch of one look, at its column whatever the font. */
function textElements(line, y) {
  const stretches = [];
  for (const [x, { text, look, isBold }] of line.entries()) {
    const last = stretches.at(-1);
    if (last && last.look === look && last.isBold === isBold) last.text += text;
    else stretches.push({ x, text, look, isBold });
  }
  return stretches
    .flatMap(({ x, text, ...look }) =>
      // A picture may show several blanks as one.
      [...text.matchAll(/\S+( \S+)*/g)].map(({ 0: words, index }) =>
        textElement(words, x + index, y, look),
      ),
    )
    .join('\n');
}

function textElement(words, x, y, { look, isBold }) {
  const left = (padding + x * cellWidth).toFixed(1);
  const length = (words.length * cellWidth).toFixed(1);
  const weight = isBold ? ' style="font-weight: bold"' : '';
  const escaped = words.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<text x="${left}" y="${y}" textLength="${length}" fill="${colors[look]}"${weight}>${escaped}</text>`;
}

try {
  await drawTrigger();
  await drawBoard();
} finally {
  rmSync(folder, { recursive: true });
}
