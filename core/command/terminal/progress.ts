import { clearInterval, setInterval } from '../../runtime/timers.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
/** Erases the line of the cursor, and moves it to its beginning. */
const ERASE = '\r\u001b[2K';

/** A terminal, or another output. */
type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/** Makes room for a line of standard output, where a line of `withProgress` may stand. It is drawn again below. */
export function eraseProgress(output: Output = process.stderr): void {
  if (output.isTTY) output.write(ERASE);
}

/**
 * Shows a description of `work` until it is done: in one line on standard error, which disappears. Writes nothing
 * where that is no terminal. `text` is asked again for each picture.
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
