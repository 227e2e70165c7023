import { createWriteStream, type WriteStream } from 'node:fs';
import {
  type AuditEvent,
  type AuditSink,
  auditSink,
  ConfigError,
  definePlugin,
  type Host,
  type Plugin,
  writeJson,
} from '../../core/api/index.js';
import { AUDIT_BUFFER_BYTES } from '../../core/limits.js';

/**
 * Writes audit events as lines of JSON to a file, or to standard output for `-`. Several threads may append to one
 * file: their events do not mix, as each is one write.
 */
export class AuditLog implements AuditSink {
  readonly #stream: NodeJS.WritableStream & Pick<WriteStream, 'writableLength'>;
  readonly #file: WriteStream | undefined;
  #lost = 0;

  constructor(
    path: string,
    readonly log: Pick<Host['log'], 'error' | 'warn'>,
  ) {
    this.#file = path === '-' ? undefined : createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.#stream = this.#file ?? process.stdout;
    this.#file?.on('error', error => log.error({ error: error.message }, 'writing the audit log failed'));
  }

  /** Appends an event. Events are lost, and counted in the log, if the file system does not keep up. */
  write(event: AuditEvent): void {
    if (this.#stream.writableLength > AUDIT_BUFFER_BYTES) {
      this.#lost++;
      return;
    }
    if (this.#lost > 0) this.log.warn({ events: this.#lost }, 'audit events were lost');
    this.#lost = 0;
    this.#stream.write(`${writeJson(event)}\n`);
  }

  close(): Promise<void> {
    const file = this.#file;
    if (!file || file.destroyed) return Promise.resolve();
    return new Promise(resolve => file.end(() => resolve()));
  }
}

/** Configuration of `audit-log`: where the events go. */
export interface AuditLogConfig {
  readonly path: string;
}

/** The audit log of the server: `--audit-log-path`. */
export default definePlugin<AuditLogConfig>({
  name: 'audit-log',
  parse(config) {
    const { path } = (config ?? {}) as { path?: unknown };
    if (typeof path !== 'string' || path === '')
      throw new ConfigError('path', 'must name a file, or - for standard output');
    return { path };
  },
  contribute: ({ path }) => [auditSink.of(host => new AuditLog(path, host.log))],
}) satisfies Plugin<AuditLogConfig>;
