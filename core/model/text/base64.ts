const OTHER = /[^A-Za-z0-9+/]/;

/**
 * Whether a text is base64 with its padding and without line ends (RFC 4648, section 4). One expression for the whole
 * text would take twenty times as long, and memory for each group of four characters.
 */
export function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return text.length % 4 === 0 && !OTHER.test(padding > 0 ? text.slice(0, -padding) : text);
}
