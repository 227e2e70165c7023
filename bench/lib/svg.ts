/** Text for an XML document. */
export const escapeXml = (text: string): string => text.replace(/[&<>"]/g, char => `&#${char.charCodeAt(0)};`);

/** A text element at a position, with classes of the style sheet. */
export const svgText = (x: number, y: number, content: string, classes = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${classes && ` class="${classes}"`}>${escapeXml(content)}</text>`;
