import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { WriterClient } from '../../workers/front/state/writerClient.js';

test('requests to a writer that has ended, and requests in flight, are refused with 504', async () => {
  const { port1, port2 } = new MessageChannel();
  const writer = new WriterClient();
  writer.attach(port1);
  const refused = expect.objectContaining({ reason: 'Timeout', code: 504 });
  const inFlight = [writer.check(), writer.sync(), writer.past({ prefix: '', from: 1, to: 2 })].map(asked =>
    expect(asked).rejects.toEqual(refused),
  );
  port2.close();
  await Promise.all(inFlight);
  await expect(writer.check()).rejects.toEqual(refused);
});
