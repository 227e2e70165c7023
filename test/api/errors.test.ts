import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';
import { textOf } from '../support/values.js';

describe('errors', () => {
  let api: Api;
  let maps: string;
  let stale: object;
  beforeAll(async () => {
    api = await Api.shared();
    maps = `${await api.namespace('errors')}/configmaps`;
    stale = await api.made(maps, { metadata: { name: 'changed' } });
    await api.put(`${maps}/changed`, { ...stale, data: { a: 'b' } });
  });
  afterAll(() => api.close());

  test('an error is a Status of kind, version, empty metadata, message, reason, details and code [R357x]', async () => {
    const { status, body, headers } = await api.get(`${maps}/none`);
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('application/json');
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'configmaps "none" not found',
      reason: 'NotFound',
      details: { name: 'none', kind: 'configmaps' },
      code: 404,
    });
  });

  test('details name group, kind, uid and causes [R358x R359x]', async () => {
    const group = await api.get('/apis/apps/v1/namespaces/errors/deployments/none');
    expect(group.body['details']).toEqual({ name: 'none', group: 'apps', kind: 'deployments' });
    const invalid = await api.post(maps, { metadata: { name: 'NOT-A-NAME' } });
    expect(invalid.status).toBe(422);
    expect(invalid.body).toMatchObject({
      reason: 'Invalid',
      details: {
        name: 'NOT-A-NAME',
        kind: 'ConfigMap',
        causes: [
          { reason: 'FieldValueInvalid', field: 'metadata.name', message: expect.stringContaining('Invalid value') },
        ],
      },
    });
    const made = await api.made(maps, { metadata: { name: 'kept' } });
    const removed = await api.delete(`${maps}/kept`);
    expect(removed.body['details']!['uid']).toBe(made['metadata']!['uid']);
  });

  test('a resource version in the future is answered with 504 Timeout and a retry time [R358x R359x]', async () => {
    const { status, body, headers } = await api.get(`${maps}?resourceVersion=999999999`);
    expect([status, body.reason]).toEqual([504, 'Timeout']);
    expect(body['details']).toMatchObject({ retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] });
    expect(headers['retry-after']).toBe('1');
  });

  test.each([
    ['401 Unauthorized', () => api.get(maps, { token: 'unknown' })],
    ['403 Forbidden', () => api.get(maps, { token: '' })],
    ['404 NotFound', () => api.get('/api/v1/nothings')],
    ['405 MethodNotAllowed', () => api.put(maps, {})],
    ['406 NotAcceptable', () => api.get(maps, { accept: 'text/html' })],
    ['409 AlreadyExists', () => api.post('/api/v1/namespaces', { metadata: { name: 'errors' } })],
    ['409 Conflict', () => api.put(`${maps}/changed`, stale)],
    ['415 UnsupportedMediaType', () => api.post(maps, 'x', { type: 'text/plain' })],
    ['422 Invalid', () => api.post(maps, { metadata: { name: '-' } })],
  ] as const)('[R359x] %s', async (expected, ask) => {
    const { status, body } = await ask();
    expect(`${status} ${textOf(body.reason)}`).toBe(expected);
    expect(body).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status });
  });

  test('a body of three MiB is read, and a larger one is refused with 413 [R365x]', async () => {
    const large = await api.post(maps, { metadata: { name: 'large' }, data: { a: 'x'.repeat(4 << 20) } });
    expect([large.status, large.body.reason]).toEqual([413, 'RequestEntityTooLarge']);
    expect((await api.post(maps, ' '.repeat(3 << 20))).status).toBe(400);
    expect((await api.post(maps, ' '.repeat((3 << 20) + 1))).status).toBe(413);
    expect((await api.get('/livez')).status).toBe(200);
  });
});
