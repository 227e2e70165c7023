/** Issues: errors with a position in the source text. */

/** An error at a UTF-16 offset. */
export interface Issue {
  readonly at: number;
  readonly message: string;
}

/** Line (from 1) and column (from 1, in code points) of an offset. */
export function position(text: string, at: number): { line: number; column: number; lineText: string } {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const start = before.lastIndexOf('\n') + 1;
  const end = text.indexOf('\n', start);
  return {
    line,
    column: [...text.slice(start, at)].length + 1,
    lineText: text.slice(start, end < 0 ? undefined : end),
  };
}

/** A caret below the character in `column` of a line. Marks of characters beyond ASCII are as wide as these may be. */
function caretLine(lineText: string, column: number): string {
  const characters = [...lineText];
  const isWide = (character: string | undefined): boolean => character !== undefined && character > '\u007f';
  const dots = Array.from({ length: column - 1 }, (_, i) => (isWide(characters[i]) ? '\uff0e' : '.'));
  return dots.join('') + (isWide(characters[column - 1]) ? '\uff3e' : '^');
}

/** Prints issues in the order of the text, each with its line and a caret. Lines over 1,000 characters are omitted. */
export function formatIssues(text: string, issues: readonly Issue[]): string {
  return [...issues]
    .sort((a, b) => a.at - b.at)
    .map(issue => {
      const { line, column, lineText } = position(text, issue.at);
      const head = `ERROR: <input>:${line}:${column}: ${issue.message}`;
      if (lineText.length > 1000) return head;
      return `${head}\n | ${lineText.replaceAll('\t', ' ')}\n | ${caretLine(lineText, column)}`;
    })
    .join('\n');
}

/** Collects issues up to a bound, so that hostile input cannot produce a huge report. */
export class Issues {
  readonly list: Issue[] = [];
  constructor(private readonly limit = 100) {}
  /** Whether further issues would be dropped. */
  get full(): boolean {
    return this.list.length >= this.limit;
  }
  add(at: number, message: string): void {
    if (this.list.length < this.limit) this.list.push({ at, message });
  }
}
