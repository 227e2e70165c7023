import { expect, test } from 'vitest';
import type { FromListeningThread } from '../../core/threads/messages/listening.js';
import type { Route } from '../../core/request/route.js';
import { RemotePaths } from '../../workers/front/listening/remotePaths.js';
import { LocalExchange } from '../../workers/front/localExchange.js';
import { partly } from '../support/values.js';

const exchange = () =>
  new LocalExchange(
    { method: 'GET', path: '/store/snapshot', headers: new Map(), body: undefined },
    { respond: () => undefined },
  );

test('the main thread is told of each client that goes away, and gets no request of one that has gone before', async () => {
  const posted: FromListeningThread[] = [];
  const paths = new RemotePaths(message => posted.push(message));
  const [gone, present] = [exchange(), exchange()];
  gone.abort();
  expect(await paths.handle(gone, partly<Route>({}))).toBe(true);
  expect(posted).toEqual([]);
  void paths.handle(present, partly<Route>({}));
  present.abort();
  expect(posted.map(({ is }) => is)).toEqual(['path', 'pathAborted']);
});
