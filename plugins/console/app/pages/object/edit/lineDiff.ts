import { diff } from '@codemirror/merge';

/** A line of a comparison. */
export interface DiffLine {
  readonly is: 'same' | 'added' | 'removed';
  readonly text: string;
  /** Its index in the text after the change; that of the next line for one that was removed. */
  readonly index: number;
}

/** Milliseconds after which a comparison becomes coarser. */
const LONGEST_MS = 500;
/** The first character that represents a line, and the range of surrogates, which must not occur unpaired. */
const FIRST = 0x100;
const SURROGATES = [0xd800, 0xe000] as const;

/** Encodes two texts with one character for each line: comparing the characters then compares the lines. */
function encode(texts: readonly string[][]): string[] {
  const codes = new Map<string, number>();
  const codeOf = (line: string): number => {
    const known = codes.get(line);
    if (known !== undefined) return known;
    const next = FIRST + codes.size;
    const code = next < SURROGATES[0] ? next : next + SURROGATES[1] - SURROGATES[0];
    codes.set(line, code);
    return code;
  };
  // A string consists of 16-bit units: if there are more distinct lines, the others share the last unit.
  return texts.map(lines => lines.map(line => String.fromCharCode(Math.min(0xffff, codeOf(line)))).join(''));
}

/** The lines of two texts, with the lines removed and added from one to the other. */
export function compareLines(before: string, after: string): DiffLine[] {
  const [old, now] = [before, after].map(text => text.replace(/\n$/, '').split('\n')) as [string[], string[]];
  const [a, b] = encode([old, now]) as [string, string];
  const lines: DiffLine[] = [];
  let [from, at] = [0, 0];
  const remove = (to: number): void => {
    for (; from < to; from++) lines.push({ is: 'removed', text: old[from]!, index: at });
  };
  const add = (to: number): void => {
    for (; at < to; at++) lines.push({ is: 'added', text: now[at]!, index: at });
  };
  const same = (to: number): void => {
    while (at < to)
      if (old[from] === now[at]) {
        lines.push({ is: 'same', text: now[at]!, index: at++ });
        from++;
      } else {
        // The lines differ, but share a character.
        remove(from + 1);
        add(at + 1);
      }
  };
  for (const { fromB, toA, toB } of diff(a, b, { timeout: LONGEST_MS })) {
    same(fromB);
    remove(toA);
    add(toB);
  }
  same(now.length);
  return lines;
}

/** A run of lines: those near a change, or unchanged ones that are folded. */
export interface DiffPart {
  readonly isFolded: boolean;
  readonly lines: readonly DiffLine[];
}

/** Divides a comparison into shown lines, with `context` lines around each change, and folded ones. */
export function fold(lines: readonly DiffLine[], context = 3): DiffPart[] {
  const near = new Uint8Array(lines.length);
  for (const [i, { is }] of lines.entries())
    if (is !== 'same') near.fill(1, Math.max(0, i - context), Math.min(lines.length, i + context + 1));
  const parts: { isFolded: boolean; lines: DiffLine[] }[] = [];
  for (const [i, line] of lines.entries()) {
    const isFolded = near[i] === 0;
    const last = parts.at(-1);
    if (last?.isFolded === isFolded) last.lines.push(line);
    else parts.push({ isFolded, lines: [line] });
  }
  // The mark of a fold takes a line itself.
  return parts.map(part => (part.isFolded && part.lines.length === 1 ? { ...part, isFolded: false } : part));
}
