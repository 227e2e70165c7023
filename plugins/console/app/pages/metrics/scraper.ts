import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { send } from '../../api/http.js';
import { Snapshot } from './snapshot.js';

/** Milliseconds between two readings. */
const PAUSE_MS = 2000;
/** Readings that are kept: five minutes. */
const KEPT = 150;

/** Reads the metrics of the server at regular intervals, while a component shows them. */
class Scraper {
  /** The oldest one first. */
  readonly snapshots = signal<readonly Snapshot[]>([]);
  readonly error = signal<unknown>(undefined);
  #timer = 0;
  #isOpen = false;

  /** Starts reading, which continues whenever the page is visible. Returns a function that stops it. */
  follow(): () => void {
    this.#isOpen = true;
    const changed = (): void => {
      clearTimeout(this.#timer);
      if (!document.hidden) void this.#read();
    };
    document.addEventListener('visibilitychange', changed);
    changed();
    return () => {
      this.#isOpen = false;
      clearTimeout(this.#timer);
      document.removeEventListener('visibilitychange', changed);
    };
  }

  async #read(): Promise<void> {
    try {
      const text = await (await send('GET', '/metrics', { accept: 'text/plain' })).text();
      this.snapshots.value = [...this.snapshots.peek(), new Snapshot(text, Date.now() / 1000)].slice(-KEPT);
      this.error.value = undefined;
    } catch (error) {
      this.error.value = error;
    }
    if (!this.#isOpen || document.hidden) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#read(), PAUSE_MS);
  }
}

/** The readings of this visit: they stay while the user is elsewhere in the console. */
const scraper = new Scraper();

/** The readings, which continue while the component is shown. */
export function useMetrics(): Scraper {
  useEffect(() => scraper.follow(), []);
  return scraper;
}
