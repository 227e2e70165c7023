import { ANSWERS_BYTES, LONG_ANSWER_BYTES } from '../../../core/limits.js';
import { Usage } from '../fairness/usage.js';

/** The bytes of memory that an answer about these objects holds while it is sent in parts. */
export function heldBytes(objects: readonly { readonly length: number }[]): number {
  let bytes = 0;
  for (const { length } of objects) {
    bytes += length;
    if (bytes >= LONG_ANSWER_BYTES) return LONG_ANSWER_BYTES;
  }
  return bytes;
}

/**
 * Limits the bytes of answers to reads that are being made or sent: in total, and for each user. Clients decide how
 * fast they read.
 */
export class Answers {
  readonly #total: Usage;

  constructor(
    /** Limit of the bytes of all answers together. */
    limit = ANSWERS_BYTES,
  ) {
    this.#total = new Usage({ bodyBytes: 0, requests: 0, watches: 0, answerBytes: limit });
  }

  /** Runs `answer`, which holds `bytes` bytes until it has ended. Throws Refusal 429 over a limit. */
  async run(usage: Usage, bytes: number, answer: () => Promise<void>): Promise<void> {
    usage.add('answerBytes', bytes);
    try {
      this.#total.add('answerBytes', bytes);
      try {
        await answer();
      } finally {
        this.#total.remove('answerBytes', bytes);
      }
    } finally {
      usage.remove('answerBytes', bytes);
    }
  }
}
