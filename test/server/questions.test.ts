import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { Questions } from '../../workers/front/writerClient.js';

test('questions to a writer that has ended are refused with 504, those under way too', async () => {
  const { port1, port2 } = new MessageChannel();
  const questions = new Questions();
  questions.attach(port1);
  const refused = expect.objectContaining({ reason: 'Timeout', code: 504 });
  const underWay = [questions.check(), questions.sync(), questions.past({ prefix: '', from: 1, to: 2 })].map(asked =>
    expect(asked).rejects.toEqual(refused),
  );
  port2.close();
  await Promise.all(underWay);
  await expect(questions.check()).rejects.toEqual(refused);
});
