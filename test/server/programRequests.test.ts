import { expect, test } from 'vitest';
import type { Exchange, ResponseStream } from '../../core/api/index.js';
import { ProgramRequests } from '../../core/server/program/requests.js';
import { liveResources, serverUser } from '../../core/server/program/users.js';
import type { Front } from '../../workers/front/front.js';
import { registryOf } from '../kinds/builtIn.js';
import { partly } from '../support/values.js';

/* Watches of a program, as the front end sees them. */

const user = { name: 'admin', uid: '', groups: [], extra: new Map() };
const line = (name: string) => Buffer.from(`${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`);

/** A front end that answers each request with a stream, and its requests. */
function streaming() {
  const found: { exchange?: Exchange; stream?: ResponseStream; aborts: number; drained: number } = {
    aborts: 0,
    drained: 0,
  };
  const front = {
    handleOf(_user: unknown, exchange: Exchange) {
      found.exchange = exchange;
      exchange.onAbort(() => found.aborts++);
      found.stream = exchange.stream(200, []);
      found.stream.onDrain(() => found.drained++);
    },
  };
  return { found, requests: new ProgramRequests(partly<Front>(front)) };
}

test('a watch counts unread bytes, and reports when they are read', async () => {
  const { found, requests } = streaming();
  const events = requests.watch(user, '/api/v1/pods?watch=true');
  const first = events.next();
  const [a, b, c] = ['a', 'b', 'c'].map(line);
  // Documents may come in parts.
  expect(found.stream!.write(a!.subarray(0, 5))).toBe(5);
  expect(found.stream!.write(a!.subarray(5))).toBe(a!.length);
  expect((await first).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
  expect(found.drained).toBe(1);
  expect([found.stream!.write(b!), found.stream!.write(c!)]).toEqual([b!.length, b!.length + c!.length]);
  expect((await events.next()).value?.object.metadata.name).toBe('b');
  expect((await events.next()).value?.object.metadata.name).toBe('c');
  expect(found.aborts).toBe(0);
});

test.each(['its loop is left', 'its signal is aborted', 'a document of it is invalid'])(
  'a watch is ended in the server when %s',
  async how => {
    const { found, requests } = streaming();
    const controller = new AbortController();
    const events = requests.watch(user, '/api/v1/pods?watch=true', controller.signal);
    const first = events.next();
    found.stream!.write(how.includes('document') ? Buffer.from('{\n') : line('a'));
    if (how.includes('loop')) {
      await first;
      await events.return(undefined);
    } else if (how.includes('signal')) {
      await first;
      controller.abort();
      expect((await events.next()).done).toBe(true);
    } else await expect(first).rejects.toThrow();
    expect([found.aborts, found.exchange!.aborted]).toEqual([1, true]);
  },
);

test.each([
  { namespace: 'shop', name: 'web/status' },
  { namespace: 'shop', name: '..' },
  { namespace: 'shop', name: 'web%2fstatus' },
  { namespace: 'kube-system/secrets/token', name: 'web' },
])('a name that would address another object sends no request: %j', async metadata => {
  const paths: string[] = [];
  const front = { handleOf: (_user: unknown, { path }: Exchange) => void paths.push(path) };
  const requests = new ProgramRequests(partly<Front>(front));
  const resources = liveResources(() => registryOf('kubernetes'));
  const maps = serverUser(user, requests, resources).client.resource('configmaps');
  if (metadata.namespace.includes('/')) {
    await expect(maps.get(metadata)).rejects.toThrow("may not contain '/'");
    await expect(maps.list(metadata)).rejects.toThrow("may not contain '/'");
    await expect(maps.create({ metadata })).rejects.toThrow("may not contain '/'");
    expect(() => maps.watch(metadata)).toThrow("may not contain '/'");
  } else {
    // The object does not exist.
    expect(await maps.get(metadata)).toBeUndefined();
    expect(await maps.delete(metadata)).toBe(false);
    await expect(maps.patch(metadata, {})).rejects.toThrow(`configmaps "${metadata.name}" not found`);
  }
  await expect(maps.replace({ apiVersion: 'v1/..', metadata: { namespace: 'shop', name: 'web' } })).rejects.toThrow(
    TypeError,
  );
  const odd = { apiVersion: 'v1?dryRun=All', metadata: { namespace: 'shop', name: 'web' } } as object;
  void maps.replace(odd as Parameters<typeof maps.replace>[0]);
  expect(paths).toEqual(['/api/v1%3FdryRun%3DAll/namespaces/shop/configmaps/web']);
});

test('a watch that is aborted before its answer ends, and a closing server does not wait for it', async () => {
  const requests = new ProgramRequests(partly<Front>({ handleOf: () => undefined }));
  const controller = new AbortController();
  const first = requests.watch(user, '/api/v1/pods?watch=true', controller.signal).next();
  controller.abort();
  expect((await first).done).toBe(true);
  await requests.close();
});

test('a closed server waits for the requests in flight', async () => {
  let exchange!: Exchange;
  const front = { handleOf: (_user: unknown, its: Exchange) => void (exchange = its) };
  const requests = new ProgramRequests(partly<Front>(front));
  const answer = requests.request(user, 'GET', '/version', {});
  const steps: string[] = [];
  const closed = requests.close().then(() => steps.push('closed'));
  await Promise.resolve();
  steps.push('answered');
  exchange.respond(200, [], Buffer.from('{}'));
  expect((await answer).body).toEqual({});
  await closed;
  expect(steps).toEqual(['answered', 'closed']);
});
