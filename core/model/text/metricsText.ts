/** A sample of the text format of Prometheus. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** The labels between the braces of a sample, as they are written: escapes in values are kept. */
function labelsIn(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  for (let at = 0, equals = text.indexOf('="'); equals >= 0; equals = text.indexOf('="', at)) {
    const name = text.slice(at, equals);
    let end = equals + 2;
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
    labels.set(name, text.slice(equals + 2, end));
    // After the quote and the comma.
    at = end + 2;
  }
  return labels;
}

/** The samples of a text. Other lines are ignored. */
export function* samplesIn(text: string): Generator<Sample> {
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const open = line.indexOf('{');
    const close = line.lastIndexOf('}');
    const end = open < 0 ? line.indexOf(' ') : close + 1;
    const value = Number(line.slice(end + 1).split(' ')[0]);
    if (end <= 0 || Number.isNaN(value)) continue;
    const labels = open < 0 ? new Map<string, string>() : labelsIn(line.slice(open + 1, close));
    yield { name: open < 0 ? line.slice(0, end) : line.slice(0, open), labels, value };
  }
}
