import { clearInterval, setInterval } from '../../runtime/timers.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
/** Erases the current line, and moves the cursor to its beginning. */
const ERASE = '\r\u001b[2K';

/** A terminal, or another output. */
type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/**
 * Erases the line of `withProgress`, if there is one, to make room for a line of standard output. It is drawn again
 * below.
 */
export function eraseProgress(output: Output = process.stderr): void {
  if (output.isTTY) output.write(ERASE);
}

/**
 * Shows a description of `work` until it is done, in one line on standard error, which is then erased. Writes nothing
 * if that is not a terminal. `text` is called each time the line is drawn.
 */
export async function withProgress<T>(
  text: string | (() => string),
  work: Promise<T>,
  output: Output = process.stderr,
): Promise<T> {
  if (!output.isTTY) return await work;
  let frame = 0;
  const draw = (): void => {
    const now = typeof text === 'string' ? text : text();
    output.write(`${ERASE}${FRAMES[frame++ % FRAMES.length]} ${now}`);
  };
  draw();
  const timer = setInterval(draw, FRAME_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    output.write(ERASE);
  }
}
