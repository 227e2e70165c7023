import {
  type AuditEvent,
  auditSink,
  ConfigError,
  definePlugin,
  type Host,
  type Plugin,
  writeJson,
} from '../../core/api/index.js';
import { randomFraction } from '../../core/runtime/random.js';
import { clearTimeout, setTimeout } from '../../core/runtime/timers.js';
import { FileWebhook } from '../../core/services/webhooks/fileWebhook.js';
import { readWebhookFile } from '../../core/services/webhooks/kubeconfig.js';
import { Delivery } from './delivery/delivery.js';
import { type DeliveryOptions, parseDelivery } from './delivery/options.js';
import type { EventWriter } from './delivery/writer.js';

/** How long a call may take; upstream's limit. */
const CALL_MS = 30_000;
/** How long a call may take when the server closes. */
const LAST_CALL_MS = 4000;
/** Number of calls for a batch, and the growth and jitter of the pauses between them; upstream's values. */
const CALLS = 5;
const FACTOR = 1.5;
const JITTER = 0.2;
/** A call is not repeated by the client. */
const ONCE = { firstMs: 0, factor: 1, jitter: 0, calls: 1 };

const ignore = (): void => undefined;

/** Configuration of `audit-webhook`, which the server generates. */
export interface AuditWebhookConfig {
  /** The kubeconfig of the webhook. */
  readonly file: string;
  /** The pause before a batch is sent for the second time, in milliseconds. */
  readonly backoffMs: number;
  readonly delivery: DeliveryOptions;
}

/** Posts events to a webhook, as EventLists. A batch is sent again after every kind of error. */
class AuditWebhook implements EventWriter {
  readonly name = 'webhook';
  readonly #webhook: FileWebhook;
  readonly #head: string;
  #isClosing = false;
  /** Ends the pauses of the batches that are to be sent again. */
  readonly #pauses = new Set<() => void>();

  constructor(
    readonly config: AuditWebhookConfig,
    host: Host<'front'>,
  ) {
    this.#webhook = new FileWebhook(config.file, { allowsHttp: true }, host);
    const apiVersion = host.naming.apiVersion('audit.orchestrator.io/v1');
    this.#head = `{"kind":"EventList","apiVersion":${JSON.stringify(apiVersion)},"metadata":{},"items":[`;
  }

  /** Without kind and version, which the list states for its items. */
  encode({ kind: _kind, apiVersion: _apiVersion, ...event }: AuditEvent): string {
    return writeJson(event);
  }

  async write(events: readonly string[]): Promise<void> {
    const body = `${this.#head}${events.join(',')}]}`;
    let pauseMs = this.config.backoffMs;
    for (let call = 1; ; call++) {
      const wasClosing = this.#isClosing;
      try {
        await this.#webhook.post(body, wasClosing ? LAST_CALL_MS : CALL_MS, ONCE, ignore);
        return;
      } catch (error) {
        if (call === CALLS || wasClosing) throw error;
      }
      if (!this.#isClosing) await this.#pause(pauseMs * (1 + randomFraction() * JITTER));
      pauseMs *= FACTOR;
    }
  }

  /** Each batch is sent once more at most. */
  hurry(): void {
    this.#isClosing = true;
    for (const end of this.#pauses) end();
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise(resolve => {
      const end = (): void => {
        clearTimeout(timer);
        this.#pauses.delete(end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds).unref();
      this.#pauses.add(end);
    });
  }
}

/** The webhook of the server for audit events: `--audit-webhook-config-file`. */
export default definePlugin<AuditWebhookConfig>({
  name: 'audit-webhook',
  parse(config) {
    const { file, backoffMs, delivery } = (config ?? {}) as AuditWebhookConfig;
    if (typeof file !== 'string' || file === '') throw new ConfigError('file', 'must be the path of a kubeconfig');
    readWebhookFile(file, { allowsHttp: true });
    return { file, backoffMs, delivery: parseDelivery(delivery) };
  },
  contribute: config => [auditSink.of(host => new Delivery(new AuditWebhook(config, host), config.delivery, host))],
}) satisfies Plugin<AuditWebhookConfig>;
