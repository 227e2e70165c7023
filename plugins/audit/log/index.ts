import {
  type AuditEvent,
  auditSink,
  ConfigError,
  definePlugin,
  type Host,
  type Plugin,
  writeJson,
} from '../../../core/api/index.js';
import { Delivery, type DeliveryHost } from '../delivery/delivery.js';
import { type DeliveryOptions, parseDelivery } from '../delivery/options.js';
import type { EventWriter } from '../delivery/writer.js';
import { legacyLine } from './legacyFormat.js';
import { RotatingFile, type RotationOptions } from './rotatingFile.js';

/** Configuration of `audit-log`, which the server generates. */
export interface AuditLogConfig {
  /** A file, or `-` for standard output. */
  readonly path: string;
  readonly format: 'json' | 'legacy';
  readonly rotation: RotationOptions;
  readonly delivery: DeliveryOptions;
}

/** Writes to standard output. Resolves when the reader has it, or the operating system keeps it. */
const writeOut = (text: string): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write(text, error => (error ? reject(error) : resolve())));

/** Writes events as lines to a file, or to standard output for `-`. */
class LogWriter implements EventWriter {
  readonly name = 'log';
  /** Lines are written in the order of the events. */
  readonly batchesAtOnce = 1;
  readonly #file: RotatingFile | undefined;

  constructor(
    readonly config: AuditLogConfig,
    host: Pick<Host, 'log' | 'now'>,
  ) {
    const { path, rotation } = config;
    this.#file = path === '-' ? undefined : new RotatingFile(path, rotation, host);
  }

  encode(event: AuditEvent): string {
    return `${this.config.format === 'json' ? writeJson(event) : legacyLine(event)}\n`;
  }

  async write(events: readonly string[]): Promise<void> {
    const file = this.#file;
    if (!file) return await writeOut(events.join(''));
    // Events that are appended at the same time are written at once, as many as fit into one file.
    await Promise.all(events.map(text => file.append(text)));
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

/** The sink that writes the audit log. */
export const auditLog = (config: AuditLogConfig, host: DeliveryHost): Delivery =>
  new Delivery(new LogWriter(config, host), config.delivery, host);

/** The audit log of the server: `--audit-log-path`. */
export default definePlugin<AuditLogConfig>({
  name: 'audit-log',
  parse(config) {
    const { path, format, rotation, delivery } = (config ?? {}) as AuditLogConfig;
    if (typeof path !== 'string' || path === '')
      throw new ConfigError('path', 'must name a file, or - for standard output');
    return { path, format, rotation, delivery: parseDelivery(delivery) };
  },
  contribute: config => [auditSink.of(host => auditLog(config, host))],
}) satisfies Plugin<AuditLogConfig>;
