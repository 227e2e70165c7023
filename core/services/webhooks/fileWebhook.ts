import type { Host } from '../../api/host.js';
import { watchFiles } from '../../files/watchedFile.js';
import { REVIEW_SOCKETS } from '../../limits.js';
import { monotonicTime } from '../../runtime/clock.js';
import { randomFraction } from '../../runtime/random.js';
import { delay, setTimeout } from '../../runtime/timers.js';
import { errorOf } from './answer.js';
import { CallFailed, type HttpAnswer, WebhookClient } from './client.js';
import type { Endpoint } from './connections.js';
import { readWebhookFile, type WebhookFile, type WebhookFileRules } from './kubeconfig.js';

/**
 * How failed calls are repeated: the first pause, the factor by which it grows, the share by which it varies at random,
 * and the largest number of calls.
 */
export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly jitter: number;
  readonly calls: number;
}

/** Upstream's default for webhooks that review tokens and access. */
export const REVIEW_BACKOFF: Backoff = { firstMs: 500, factor: 1.5, jitter: 0.2, calls: 5 };

/** The time after which connections of a previous kubeconfig are closed: no call takes longer. */
const CLOSE_MS = 60_000;

/** Codes for which the same call may succeed later. */
const MAY_SUCCEED = new Set([429, 500, 504]);

/** Called after each call, with the code of the answer, or `<error>` if there was none, and the duration. */
export type CallObserver = (code: string, seconds: number) => void;

/** A call without an answer, or with an error answer. */
interface FailedCall {
  readonly error: CallFailed;
  readonly code?: string;
  readonly mayRetry: boolean;
}

/** A webhook that a kubeconfig file defines. The file, and the files that it names, are read again when they change. */
export class FileWebhook {
  #client = new WebhookClient(REVIEW_SOCKETS);
  #endpoint: Endpoint;
  #files: readonly string[];
  #watch: { close(): void };

  /**
   * `read`: reads the definition of the webhook; by default from a kubeconfig. Throws ConfigError for a file that
   * cannot be used.
   */
  constructor(
    readonly file: string,
    readonly rules: WebhookFileRules,
    readonly host: Pick<Host, 'log' | 'onClose'>,
    readonly read: () => WebhookFile = () => readWebhookFile(file, rules),
  ) {
    ({ endpoint: this.#endpoint, files: this.#files } = read());
    this.#watch = this.#watchFiles();
    host.onClose(() => {
      this.#watch.close();
      this.#client.close();
    });
  }

  /**
   * Posts JSON. Repeats the call until `timeoutMs` have passed if the webhook is busy, has failed, or has closed a
   * reused connection. Resolves with the answer if its code is 200 or 201. Rejects with CallFailed.
   */
  async post(body: string, timeoutMs: number, backoff: Backoff, observe: CallObserver): Promise<HttpAnswer> {
    const end = monotonicTime() + timeoutMs;
    let wait = backoff.firstMs;
    for (let call = 1; ; call++) {
      const began = monotonicTime();
      const outcome = await this.#postOnce(body, end - began, timeoutMs);
      observe(
        'status' in outcome ? String(outcome.status) : (outcome.code ?? '<error>'),
        (monotonicTime() - began) / 1000,
      );
      if (!('error' in outcome)) return outcome;
      const varied = wait * (1 + randomFraction() * backoff.jitter);
      if (!outcome.mayRetry || call === backoff.calls || monotonicTime() + varied >= end) throw outcome.error;
      await delay(varied, { ref: false });
      wait *= backoff.factor;
    }
  }

  async #postOnce(body: string, leftMs: number, timeoutMs: number): Promise<HttpAnswer | FailedCall> {
    const url = new URL(this.#endpoint.url);
    url.search = `timeout=${timeoutMs / 1000}s`;
    try {
      const endpoint = { ...this.#endpoint, url: url.href };
      const answer = await this.#client.post(endpoint, body, Math.max(leftMs, 1), { isRepeatable: true });
      if (answer.status === 200 || answer.status === 201) return answer;
      const { status } = answer;
      return { error: new CallFailed(errorOf(answer)), code: String(status), mayRetry: MAY_SUCCEED.has(status) };
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      return { error, mayRetry: false };
    }
  }

  #watchFiles(): { close(): void } {
    return watchFiles(this.#files, () => this.#reload());
  }

  /** Reads the file again. If it cannot be used, the previous configuration stays in use. */
  #reload(): void {
    const { log } = this.host;
    try {
      const { endpoint, files } = this.read();
      this.#endpoint = endpoint;
      this.#files = files;
    } catch (error) {
      log.error(
        { file: this.file },
        `a webhook's kubeconfig is not used, and the former one stays: ${(error as Error).message}`,
      );
      return;
    }
    this.#watch.close();
    this.#watch = this.#watchFiles();
    // Calls in progress keep their connections.
    const before = this.#client;
    this.#client = new WebhookClient(REVIEW_SOCKETS);
    setTimeout(() => before.close(), CLOSE_MS).unref();
    log.info({ file: this.file }, "a webhook's kubeconfig has changed and is used");
  }
}
