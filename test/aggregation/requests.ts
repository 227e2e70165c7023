import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { RunningServer } from '../../core/index.js';

/** The answer to a request. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends a request as the administrator. A body is sent as JSON unless `headers` say otherwise. */
export const send = (
  server: RunningServer,
  method: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body?: string,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = {
      method,
      rejectUnauthorized: false,
      headers: { authorization: `Bearer ${server.token}`, ...type, ...headers },
    };
    const sent = request(new URL(path, server.url), options, async answer => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      resolve({ status: answer.statusCode!, text: Buffer.concat(chunks).toString() });
    });
    sent.on('error', reject);
    sent.end(body);
  });
