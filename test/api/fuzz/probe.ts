import { RawClient } from '../../conformance/rawClient.js';
import type { Api } from '../support.js';
import type { Served } from './bodies.js';
import { acceptable } from './bodies.js';
import type { Case, Known } from './requests.js';

/** The longest time until an answer begins: requests wait three seconds for a revision that does not exist yet. */
const DEADLINE_MS = 15_000;

/** Reads the facts for the generator from the server. */
export async function learn(api: Api): Promise<Known> {
  const { groups } = (await api.get('/apis')).body as unknown as { groups: { versions: { groupVersion: string }[] }[] };
  const served: Served[] = [];
  for (const path of ['/api/v1', ...groups.flatMap(group => group.versions.map(v => `/apis/${v.groupVersion}`))]) {
    const { resources } = (await api.get(path)).body as unknown as { resources: Omit<Served, 'path'>[] };
    served.push(...resources.map(resource => ({ ...resource, path })));
  }
  served.push(
    ...['widgets', 'widgets/status', 'widgets/scale'].map(name => ({
      path: '/apis/toys.example.com/v1',
      name,
      kind: name.endsWith('scale') ? 'Scale' : 'Widget',
      ...(name.endsWith('scale') ? { group: 'autoscaling', version: 'v1' } : {}),
      namespaced: true,
      verbs:
        name === 'widgets'
          ? ['create', 'update', 'patch', 'patch', 'delete', 'get', 'list']
          : ['get', 'update', 'patch'],
    })),
  );
  const { definitions } = (await api.get('/openapi/v2')).body as unknown as Pick<Known, 'definitions'>;
  return { served, definitions, token: api.server.token, protobuf: await populate(api, served) };
}

/** Creates an object of every kind, for updates and patches, and returns their protobuf forms. */
async function populate(api: Api, served: readonly Served[]): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for (const resource of served) {
    if (resource.name.includes('/') || !resource.verbs.includes('create')) continue;
    const path = `${resource.path}${resource.namespaced ? '/namespaces/fuzz' : ''}/${resource.name}`;
    const answer = await api.bytes(
      path,
      acceptable(() => 0, resource),
      'application/vnd.kubernetes.protobuf',
    );
    if (answer.status === 201) found.set(resource.name, answer.bytes);
  }
  return found;
}

/** Sends a request on its own connection and returns the fault of the answer; undefined if it is correct. */
export async function probe(port: number, { bytes }: Case): Promise<string | undefined> {
  const client = await RawClient.open({ port });
  const timer = setTimeout(() => client.socket.destroy(new Error('deadline')), DEADLINE_MS);
  const began = performance.now();
  try {
    client.send(bytes);
    const text = await client.untilBytes(isWhole);
    if (performance.now() - began >= DEADLINE_MS - 100) return 'no answer in time';
    return judge(final(text));
  } finally {
    clearTimeout(timer);
    client.socket.destroy();
  }
}

/** Sends damaged bytes and disconnects: the server may answer or close, but it must release the connection. */
export async function probeDamaged(port: number, bytes: Uint8Array): Promise<string | undefined> {
  const client = await RawClient.open({ port });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    client.socket.destroy();
  }, DEADLINE_MS);
  try {
    client.send(bytes);
    client.socket.end();
    const text = await client.end();
    if (late) return 'the connection stays open';
    const [, status] = /^HTTP\/1\.1 (5\d\d) /.exec(final(text)) ?? [];
    return status === undefined || status === '504' || status === '505' ? undefined : text.slice(0, 500);
  } finally {
    clearTimeout(timer);
    client.socket.destroy();
  }
}

/** An answer without the interim responses before it. */
const final = (text: string): string => text.replace(/^(HTTP\/1\.1 1\d\d [^\r]*\r\n\r\n)+/, '');

/** Space for interim responses and a header block. */
const HEAD_BYTES = 64 * 1024;

/** True if an answer is complete, or is a stream. */
/** True if an answer has arrived, or the beginning of one without an end. */
export function isWhole(received: Buffer): boolean {
  const begin = received.toString('latin1', 0, HEAD_BYTES);
  const text = final(begin);
  const end = text.indexOf('\r\n\r\n');
  // The header block of a watch with frames is sent with its first frame. The part that has arrived proves that the
  // watch is running.
  if (end < 0) return /^HTTP\/1\.1 200 [\s\S]*protobuf;stream=watch\r\n/.test(text);
  const head = text.slice(0, end).toLowerCase();
  if (/^http\/1\.1 (204|304)/.test(head) || head.includes('transfer-encoding: chunked')) return true;
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  const interim = begin.length - text.length;
  return length !== undefined && received.length >= interim + end + 4 + Number(length);
}

function judge(text: string): string | undefined {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
  // A listener may close a connection that does not send HTTP.
  if (status === undefined) return text === '' ? undefined : `no HTTP: ${text.slice(0, 100)}`;
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end).toLowerCase();
  const body = Buffer.from(text.slice(end + 4), 'latin1').toString();
  const code = Number(status);
  // The server has no backend for Services, which is not an error here.
  const unserved = code === 503 && body.includes('no endpoints available');
  if (code >= 500 && code !== 504 && code !== 505 && !unserved) return `${status}: ${body.slice(0, 500)}`;
  if (code < 400 || body === '') return undefined;
  if (head.includes('content-type: application/json'))
    return isStatus(body, code) ? undefined : `no Status: ${status} ${body.slice(0, 300)}`;
  if (head.includes('content-type: application/yaml'))
    return /^kind: Status$/m.test(body) ? undefined : `no Status: ${body.slice(0, 300)}`;
  if (head.includes('protobuf'))
    return /^k8s\0[\s\S]{0,20}Status/.test(body) ? undefined : `no Status: ${body.slice(0, 300)}`;
  const known =
    body === '404 page not found\n' ||
    code === 431 ||
    code === 400 ||
    code === 505 ||
    /\r\ncontent-type: text\/plain/.test(head);
  return known ? undefined : `neither Status nor page: ${text.slice(0, 300)}`;
}

function isStatus(body: string, code: number): boolean {
  const { kind, apiVersion, status, reason, message, code: inside } = JSON.parse(body) as { [member: string]: unknown };
  return (
    kind === 'Status' &&
    apiVersion === 'v1' &&
    status === 'Failure' &&
    inside === code &&
    typeof reason === 'string' &&
    typeof message === 'string'
  );
}
