import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, ConfiguredServer } from '../plugins/support.js';

const use = pathToFileURL(resolve('dist/test/abuse/fixtures/spinning.js')).href;
const MAPS = '/api/v1/namespaces/default/configmaps';
const HONEST = ['ann', 'ben', 'cat', 'dan'];

describe.each(['uws', 'node'])('with --listener=%s', listener => {
  const server = new ConfiguredServer();
  beforeAll(async () => {
    const tokenAuthFile = join(server.directory, 'tokens.csv');
    const line = (user: string) => `${user}-token,${user},${user},"system:masters"\n`;
    writeFileSync(tokenAuthFile, ['mallory', ...HONEST].map(line).join(''), { mode: 0o600 });
    await server.start({ plugins: [{ use }], listener, tokenAuthFile });
  });
  afterAll(() => server.dispose());

  let names = 0;
  const call = (user: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
    server.call(method, path, { headers: { authorization: `Bearer ${user}-token` }, ...(body && { body }) });
  const create = (user: string, spin?: string): Promise<Answer> =>
    call(user, 'POST', MAPS, { metadata: { name: `map-${names++}`, ...(spin && { labels: { spin } }) } });

  /** Creates, reads and deletes objects until `isOver`. Returns the codes of all answers. */
  async function work(user: string, isOver: () => boolean): Promise<number[]> {
    const codes: number[] = [];
    while (!isOver()) {
      const created = await create(user);
      const { name } = created.body.metadata as { name?: string };
      const read = await call(user, 'GET', `${MAPS}/${name}`);
      const deleted = await call(user, 'DELETE', `${MAPS}/${name}`);
      codes.push(created.status, read.status, deleted.status);
    }
    return codes;
  }

  test('while jobs of one user do not return, requests of others succeed, and the user gets 429', {
    timeout: 90_000,
  }, async () => {
    await Promise.all(HONEST.map(user => create(user)));
    let isOver = false;
    const others = HONEST.map(user => work(user, () => isOver));
    const stuck = await Promise.all(Array.from({ length: 6 }, () => create('mallory', 'forever')));
    isOver = true;
    const codes = await Promise.all(others);
    for (const ofUser of codes) {
      expect(new Set(ofUser)).toEqual(new Set([200, 201]));
      // Meanwhile two threads were kept for ten seconds each: whoever waits for one makes no second round.
      expect(ofUser.length).toBeGreaterThan(9);
    }
    expect(stuck.filter(({ status }) => status === 500).length).toBeLessThanOrEqual(2);
    for (const { status, headers } of stuck.filter(answer => answer.status !== 500))
      expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
  });

  test('jobs that take long, but end, are completed', async () => {
    const slow = Array.from({ length: 3 }, () => create('ben', '300'));
    const beside = HONEST.map(user => create(user));
    for (const { status } of await Promise.all([...slow, ...beside])) expect(status).toBe(201);
  });
});
