/** Draws the content of a terminal as SVG. */

const [COLUMNS, WIDTH, LINE, MARGIN] = [104, 7.23, 18, 18];
/** The classes of the colors that commands use (core/command/terminal/style.ts), by their codes. */
const STYLES = { 1: 'strong', 2: 'faint', 31: 'bad', 32: 'good', 36: 'command' };
const CODE = /\u001b\[(\d*)m/g;
/** The control sequence that erases the line of the cursor (ECMA-48, EL). */
const ERASE = '\r\u001b[2K';

/** The lines that are visible at the end, with the codes of their colors. */
export const screenText = shown =>
  shown
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map(line => line.split(ERASE).at(-1).replaceAll('\r', ''));

const escapeXml = text => text.replace(/[&<>"]/g, char => `&#${char.charCodeAt(0)};`);

/** The parts of a line, each with a text and a class. */
function partsOf(line) {
  const parts = [];
  let [style, at] = ['', 0];
  for (const match of line.matchAll(CODE)) {
    parts.push({ text: line.slice(at, match.index), style });
    style = STYLES[match[1]] ?? '';
    at = match.index + match[0].length;
  }
  return [...parts, { text: line.slice(at), style }].filter(({ text }) => text !== '');
}

/** A line of a session, wrapped into lines of at most COLUMNS characters. */
function wrapped(parts) {
  const lines = [[]];
  let room = COLUMNS;
  for (const { text, style } of parts)
    for (let rest = text; rest !== ''; ) {
      if (room === 0) {
        lines.push([]);
        room = COLUMNS;
      }
      lines.at(-1).push({ text: rest.slice(0, room), style });
      const taken = Math.min(room, rest.length);
      rest = rest.slice(taken);
      room -= taken;
    }
  return lines;
}

const STYLE = `
  text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre; }
  .strong, .prompt { font-weight: 600; }
  .faint { fill: #9198a1; }
  .good { fill: #57ab5a; }
  .bad { fill: #f47067; }
  .command { fill: #6cb6ff; }`;

/** The image of a session. Lines that begin with `$ ` were typed. */
export function sessionImage(lines) {
  const shown = lines.flatMap(line =>
    wrapped(
      line.startsWith('$ ')
        ? [
            { text: '$ ', style: 'faint' },
            { text: line.slice(2), style: 'prompt' },
          ]
        : partsOf(line),
    ),
  );
  while (shown.at(-1)?.length === 0) shown.pop();
  const [width, height] = [Math.ceil(COLUMNS * WIDTH + 2 * MARGIN), shown.length * LINE + 2 * MARGIN];
  const texts = shown.map((parts, i) => {
    const spans = parts.map(({ text, style }) =>
      style ? `<tspan class="${style}">${escapeXml(text)}</tspan>` : escapeXml(text),
    );
    return `<text x="${MARGIN}" y="${MARGIN + (i + 0.75) * LINE}" xml:space="preserve">${spans.join('')}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal session">
<style>${STYLE}</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${texts.join('\n')}
</svg>
`;
}
