import type { Case, Row } from '../lib/case.js';
import { measureMessages } from '../messages/measure.js';

/** The numbers of items in a message: of a single client, and of a full batch. */
const COUNTS = [1, 4, 16];

const messages: Case = {
  name: 'messages',
  async run({ short }): Promise<Row[]> {
    const rows: Row[] = [];
    for (const count of COUNTS) {
      for (const { kind, used, cloned, messagePack } of await measureMessages(count, short ? 3 : 15)) {
        const row = { case: `${kind}, ${count} to a message`, unit: 'µs CPU each', atMost: true };
        const note = `MessagePack, baseline: structured clone; the server uses ${used === 'cloned' ? 'the baseline' : 'MessagePack'}`;
        rows.push({ ...row, value: messagePack, baseline: cloned, note, ...(used === 'messagePack' && { aim: 1 }) });
      }
    }
    return rows;
  },
};

/** Ways to send messages between threads; no server is started. */
export const threadMessages: readonly Case[] = [messages];
