import { createWriteStream, type WriteStream } from 'node:fs';
import type { Log } from '../../api/host.js';
import { AUDIT_BUFFER_BYTES } from '../../limits.js';

/** Where audit events go, as lines of JSON: a file, or standard output for `-`. */
export class AuditLog {
  readonly #stream: NodeJS.WritableStream & Pick<WriteStream, 'writableLength'>;
  readonly #file: WriteStream | undefined;
  #lost = 0;

  constructor(
    path: string,
    readonly log: Pick<Log, 'error' | 'warn'>,
  ) {
    this.#file = path === '-' ? undefined : createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.#stream = this.#file ?? process.stdout;
    this.#file?.on('error', error => log.error({ error: error.message }, 'writing the audit log failed'));
  }

  /** Appends an event. Events are lost, and counted in the log, if the file system does not keep up. */
  write(event: object): void {
    if (this.#stream.writableLength > AUDIT_BUFFER_BYTES) {
      this.#lost++;
      return;
    }
    if (this.#lost > 0) this.log.warn({ events: this.#lost }, 'audit events were lost');
    this.#lost = 0;
    this.#stream.write(`${JSON.stringify(event)}\n`);
  }

  /** Resolves when everything is written. */
  close(): Promise<void> {
    const file = this.#file;
    if (!file || file.destroyed) return Promise.resolve();
    return new Promise(resolve => file.end(() => resolve()));
  }
}
