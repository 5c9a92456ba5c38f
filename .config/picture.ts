import type { IBufferCell, Terminal } from '@xterm/headless';

const cellWidth = 8.4;
const lineHeight = 19;
const margin = 18;

/** The names of the palette's first sixteen colors, as the style sheet calls them. */
const colorNames = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

const dark = {
  back: '#14181f',
  edge: '#2b323d',
  text: '#d5dbe3',
  dim: '#8a94a3',
  red: '#ff7b72',
  green: '#5fd38d',
  yellow: '#e3b341',
  cyan: '#6cc7f5',
};
const light = {
  back: '#fbfbfa',
  edge: '#d5d9de',
  text: '#22272e',
  dim: '#656d76',
  red: '#c0212b',
  green: '#18743a',
  yellow: '#835c00',
  cyan: '#0b67a3',
};

const rulesOf = ({ back, edge, text, ...looks }: typeof dark) =>
  [`rect{fill:${back};stroke:${edge}}`, `text{fill:${text}}`]
    .concat(Object.entries(looks).map(([look, color]) => `.${look}{fill:${color}}`))
    .join('');

/** Dark or light as the reader's own surroundings are; every color has a contrast of at least 4.5 to 1. */
const style = `
    text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}.bold{font-weight:700}
    ${rulesOf(dark)}
    @media (prefers-color-scheme:light){${rulesOf(light)}}`;

/** What a terminal shows, as an SVG; `about` is for those who cannot see it. */
export function pictureOf(terminal: Terminal, about: string): string {
  const { active } = terminal.buffer;
  const rows = Array.from({ length: active.length }, (_, y) => spansOf(terminal, y));
  const hasText = (spans: Span[]) => spans.length > 0;
  const shown = rows.slice(rows.findIndex(hasText), rows.findLastIndex(hasText) + 1);
  const width = Math.ceil(terminal.cols * cellWidth + 2 * margin);
  const height = shown.length * lineHeight + 2 * margin;
  const texts = shown.flatMap((spans, y) =>
    spans.map(({ x, text, look }) => {
      const at = `x="${round(margin + x * cellWidth)}" y="${margin + y * lineHeight + 14}"`;
      const length = `textLength="${round(text.length * cellWidth)}"`;
      return `  <text ${at} ${length}${look && ` class="${look}"`}>${escapeXml(text)}</text>`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escapeXml(about)}</title>
  <style>${style}
  </style>
  <rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join('\n')}
</svg>
`;
}

interface Span {
  x: number;
  text: string;
  look: string;
}

/** A line of the screen, cut where its look changes and at wide gaps, which not every renderer of SVG keeps. */
function spansOf({ buffer, cols }: Terminal, y: number): Span[] {
  const line = buffer.active.getLine(y);
  const spans: Span[] = [];
  for (let x = 0; x < cols; x++) {
    const cell = line?.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const text = cell.getChars() || ' ';
    const look = lookOf(cell);
    const last = spans.at(-1);
    const goesOn = last?.look === look && !(text !== ' ' && last.text.endsWith('  '));
    if (goesOn) last.text += text;
    else spans.push({ x, text, look });
  }
  return spans
    .filter(({ text }) => text.trim() !== '')
    .map(({ x, text, look }) => ({ x: x + text.search(/\S/), text: text.trim(), look }));
}

function lookOf(cell: IBufferCell): string {
  const looks: string[] = [];
  if (cell.isBold()) looks.push('bold');
  if (cell.isDim()) looks.push('dim');
  if (cell.isFgPalette()) looks.push(colorNames[cell.getFgColor() % 8] ?? '');
  return looks.join(' ');
}

const round = (number: number) => Number(number.toFixed(1));

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
