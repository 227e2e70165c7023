import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { decodeFromWriter, encodeToWriter } from '../../core/threads/messages/wire.js';
import { openMemory } from '../../plugins/storage/memory.js';
import { Writer } from '../../workers/writer/writer.js';
import { RecordedLog } from '../support/recordedLog.js';

it('a write that fails in the store is logged with its trace id, and the writer continues', async () => {
  const log = new RecordedLog();
  const fatal = (error: Error): void => {
    throw error;
  };
  const writer = new Writer(await openMemory({}), new Int32Array(new SharedArrayBuffer(64)), fatal, log);
  await writer.start();
  const { port1, port2 } = new MessageChannel();
  writer.connect({ port: port1, counter: 1, reacts: true, front: 0 });
  const put = { is: 'put' as const, key: 'core/pods/shop/a', value: Buffer.from('{}') };
  const [data, transfer] = encodeToWriter({
    is: 'propose',
    proposals: [
      {
        id: 1,
        operations: [put, put],
        trace: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
      },
      { id: 2, operations: [put, put] },
      { id: 3, operations: [put] },
    ],
  });
  port2.postMessage(data, transfer as ArrayBuffer[]);
  const [message] = await once(port2, 'message');
  expect(decodeFromWriter(message)).toMatchObject({
    verdicts: [{ is: 'error' }, { is: 'error' }, { is: 'committed' }],
  });
  const failed = { level: 'error', message: 'the store failed to commit a write' };
  const error = expect.stringContaining('core/pods/shop/a');
  expect(log.records).toEqual([
    { ...failed, fields: { error, traceId: '0af7651916cd43dd8448eb211c80319c' } },
    { ...failed, fields: { error } },
  ]);
  port2.close();
  await writer.close();
});
