import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completeChunks, RawClient } from '../conformance/rawClient.js';
import { Api } from './support.js';
import { LISTENER_NAMES } from '../listener/names.js';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** True if the stream contains a complete event about the object, as a line or frame, after the previous event. */
const holdsJson = (data: string, name: string): boolean => new RegExp(`"${name}"[^\\n]*\\n ?$`).test(data);
const holdsFrame = (data: string, name: string): boolean => {
  const bytes = Buffer.from(data, 'latin1');
  let at = 0;
  let last = '';
  while (at + 4 <= bytes.length && at + 4 + bytes.readUInt32BE(at) <= bytes.length) {
    const end = at + 4 + bytes.readUInt32BE(at);
    last = bytes.toString('latin1', at + 4, end);
    at = end;
  }
  return last.includes(name);
};

describe.each(LISTENER_NAMES)('a watch on the wire, listener %s', listener => {
  let api: Api;
  let path: string;
  beforeAll(async () => {
    api = await Api.start({ listener });
    path = `${await api.namespace('wire')}/secrets`;
  });
  afterAll(() => api.close());

  test.each([
    ['JSON', 'application/json', holdsJson],
    ['a Table', TABLE, holdsJson],
    ['protobuf', PROTOBUF, holdsFrame],
  ])('the chunk of an event in %s is complete when the event is sent', async (_, accept, holds) => {
    const name = `s${accept.length}`;
    const since = String((await api.get(path)).body['metadata']!['resourceVersion']);
    const client = await RawClient.open({ port: Number(new URL(api.server.url).port), ca: 'any' });
    client.send(
      `GET ${path}?watch=1&resourceVersion=${since} HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\n` +
        `Authorization: Bearer ${api.server.token}\r\n\r\n`,
    );
    // The header block is complete before there is an event.
    expect(await client.until(text => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1.1 200 /);
    for (const which of ['a', 'b']) {
      await api.made(path, { metadata: { name: name + which } });
      await client.until(text => holds(completeChunks(text), name + which));
      expect(client.closed).toBe(false);
    }
    client.socket.destroy();
  });
});
