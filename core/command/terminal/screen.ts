/** Switches to the alternate screen of a terminal and hides the cursor; switches back. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
/** Erases the rest of a line, and of the screen. */
const ERASE_LINE = '\u001b[K';
const ERASE_BELOW = '\u001b[J';
const CTRL_C = '\u0003';

/** Stops the wrapping of long lines, which would move those below. */
const NO_WRAP = '\u001b[?7l';
const WRAP = '\u001b[?7h';

/** The whole terminal, which is drawn repeatedly. It must be closed to make the terminal usable again. */
export class Screen {
  /** Resolves when `q` or Ctrl-C is pressed, or the process is asked to end. */
  readonly ended: Promise<void>;
  isEnded = false;
  #end: () => void = () => undefined;
  readonly #onKey = (key: Buffer): void => {
    const text = key.toString();
    if (text.includes('q') || text.includes(CTRL_C)) this.#end();
  };
  readonly #onSignal = (): void => this.#end();

  constructor(
    readonly output: NodeJS.WriteStream,
    readonly input: NodeJS.ReadStream,
  ) {
    this.ended = new Promise(resolve => {
      this.#end = () => {
        this.isEnded = true;
        resolve();
      };
    });
    output.write(ENTER + NO_WRAP);
    if (input.isTTY) {
      input.setRawMode(true);
      input.on('data', this.#onKey);
      input.resume();
    }
    process.once('SIGINT', this.#onSignal);
    process.once('SIGTERM', this.#onSignal);
  }

  /** The current number of lines of the terminal. */
  get rows(): number {
    return this.output.rows;
  }

  /** Shows these lines, and nothing else. */
  show(lines: readonly string[]): void {
    this.output.write(HOME + lines.map(line => `${line}${ERASE_LINE}`).join('\r\n') + ERASE_BELOW);
  }

  close(): void {
    process.off('SIGINT', this.#onSignal);
    process.off('SIGTERM', this.#onSignal);
    if (this.input.isTTY) {
      this.input.off('data', this.#onKey);
      this.input.setRawMode(false);
      this.input.pause();
    }
    this.output.write(WRAP + LEAVE);
  }
}
