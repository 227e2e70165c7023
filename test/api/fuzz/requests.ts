import { type Below, chance, pick, TEXTS, times } from './choices.js';
import { acceptable, damaged, type Definitions, jsonText, mutate, NAMES, type Served, yamlText } from './bodies.js';
import { type Body, patchOf } from './patches.js';

/** The generator's knowledge of the server. */
export interface Known {
  readonly served: readonly Served[];
  readonly definitions: Definitions;
  readonly token: string;
  /** Protobuf forms of objects, by resource name. */
  readonly protobuf: ReadonlyMap<string, Uint8Array>;
}

/** A request as the bytes of one connection, with its name for reports. */
export interface Case {
  readonly title: string;
  readonly bytes: Buffer;
}

const METHODS = [
  'GET',
  'GET',
  'GET',
  'POST',
  'POST',
  'PUT',
  'PATCH',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'get',
  'PROPFIND',
];
const ACCEPTS = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=Table;g=meta.k8s.io;v=v1beta1,application/json',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  'application/json;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2',
  'application/json;stream=watch',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'text/html',
  '*/*',
  '*/*;q=0',
  'application/*;q=x',
  'application/json;as=__proto__;g=constructor;v=toString',
  ',,,;;;===',
  'application/json;'.repeat(500),
  'a/b,'.repeat(2000),
];
const TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'application/yaml',
  'text/plain',
  '',
  ';',
  'application/json,text/plain',
  'multipart/form-data',
];
const PARAMETERS = [
  'watch',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'labelSelector',
  'fieldSelector',
  'timeoutSeconds',
  'sendInitialEvents',
  'allowWatchBookmarks',
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'force',
  'pretty',
  'propagationPolicy',
  'gracePeriodSeconds',
  'orphanDependents',
  'includeObject',
  'hash',
  'verbose',
  'exclude',
  'timeout',
  '__proto__',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
];
const VALUES = [
  '0',
  '1',
  '-1',
  'true',
  'false',
  'All',
  'None',
  'Strict',
  'Warn',
  'Ignore',
  'Exact',
  'NotOlderThan',
  'Background',
  'Foreground',
  'Orphan',
  'Metadata',
  'Object',
  'a=b',
  'a in (a,b)',
  'a notin (',
  '!a',
  'metadata.name=a',
  'metadata.namespace!=x',
  'status.phase=',
  'spec.nodeName==x,metadata.name=a',
  'a=\\',
  'x,y,z,!w,=',
  '=',
  'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0',
  '9223372036854775807',
  '1s',
  '99999999999999999999h',
];
const PATHS = [
  '/',
  '//',
  '/api',
  '/apis',
  '/api/',
  '/api/v1',
  '/api/v2',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/apps/v9',
  '/version',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/openapi/v3/apis/__proto__/v1',
  '/livez',
  '/readyz/ping',
  '/healthz/__proto__',
  '/livez?verbose',
  '/metrics',
  '/logs',
  '/debug/pprof',
  '/apis/__proto__/constructor/toString',
  '/api/v1/watch',
  '/api/v1/watch/pods',
  '/api/v1/watch/namespaces/fuzz/pods',
  '/api/v1/proxy/x',
  '/apis/toys.example.com/v1/namespaces/fuzz/widgets',
  '*',
  'http://other/api',
];

const encode = (below: Below, text: string): string => {
  if (chance(below, 3)) return text;
  try {
    return encodeURIComponent(text);
  } catch {
    return '%ED%A0%80';
  }
};

const SEGMENTS = [
  '%',
  '%zz',
  '%00',
  '%2F',
  '%2e%2e',
  '..',
  '.',
  '',
  '%C0%80',
  '%F0%9F',
  '%25',
  '*',
  '~',
  'status',
  'watch',
  'namespaces',
  'x'.repeat(5000),
  '%41'.repeat(3000),
];

/** A path to a resource that fits the method, sometimes broken. */
function resourcePath(below: Below, method: string, served: Served): string {
  const [plural = '', sub] = served.name.split('/');
  const name =
    plural === 'customresourcedefinitions'
      ? 'widgets.toys.example.com'
      : pick(below, method === 'DELETE' ? NAMES.slice(4) : NAMES);
  const namespace = served.namespaced && !chance(below, 12) ? ['namespaces', 'fuzz'] : [];
  const parts = [served.path.slice(1), ...namespace, plural];
  const one =
    ['PUT', 'PATCH'].includes(method) ||
    (method === 'DELETE' && !chance(below, 30)) ||
    (method !== 'POST' && chance(below, 2));
  if (sub) parts.push(name, sub);
  else if (one !== chance(below, 20)) parts.push(name);
  if (chance(below, 12))
    parts[below(parts.length)] = chance(below, 2) ? pick(below, SEGMENTS) : encode(below, pick(below, TEXTS));
  if (chance(below, 25)) parts.push(pick(below, SEGMENTS));
  return `/${parts.join('/')}`;
}

const VERBS: { readonly [verb: string]: string } = {
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  get: 'GET',
  list: 'GET',
};

/** Usually a method that the resource supports; writes are more frequent than reads. */
function methodFor(below: Below, served: Served): string {
  if (chance(below, 8)) return pick(below, METHODS);
  return VERBS[pick(below, served.verbs)] ?? pick(below, ['POST', 'PATCH', 'PUT']);
}

function queryOf(below: Below): string {
  const parts = times(below, 4, () => {
    const value = chance(below, 4) ? pick(below, TEXTS) : pick(below, VALUES);
    return chance(below, 8) ? pick(below, PARAMETERS) : `${pick(below, PARAMETERS)}=${encode(below, value)}`;
  });
  if (chance(below, 50)) parts.push('a=b&'.repeat(1000));
  return parts.length > 0 ? `?${parts.join('&')}` : '';
}

/** A body for a create or an update. */
function objectBody(below: Below, served: Served, known: Known): Body {
  const value = acceptable(below, served);
  if (!chance(below, 3)) mutate(below, value, known.definitions);
  const protobuf = known.protobuf.get(served.name);
  switch (below(protobuf ? 4 : 3)) {
    case 0:
      return { type: 'application/yaml', bytes: damagedOnce(below, Buffer.from(yamlText(below, value))) };
    case 3:
      return { type: 'application/vnd.kubernetes.protobuf', bytes: damaged(below, protobuf!) };
    default:
      return {
        type: chance(below, 12) ? pick(below, TYPES) : 'application/json',
        bytes: damagedOnce(below, Buffer.from(jsonText(below, value))),
      };
  }
}

const damagedOnce = (below: Below, bytes: Uint8Array): Uint8Array =>
  chance(below, 10) ? damaged(below, bytes) : bytes;

function headersOf(below: Below, known: Known): string[] {
  const headers = ['host: x', 'connection: close'];
  headers.push(
    `authorization: ${chance(below, 40) ? pick(below, ['', 'Bearer', 'Bearer \xff', 'Basic YTpi', 'Bearer x.y.z', `Bearer ${'x'.repeat(5000)}`]) : `Bearer ${known.token}`}`,
  );
  if (chance(below, 4)) headers.push(`accept: ${pick(below, ACCEPTS)}`);
  if (chance(below, 12))
    headers.push(`if-match: ${pick(below, ['*', '"1"', 'x', '1'])}`, `if-none-match: ${pick(below, ['*', '"x"'])}`);
  if (chance(below, 20)) headers.push(...times(below, 400, () => `x-${below(1000)}: ${'v'.repeat(below(60))}`));
  if (chance(below, 20))
    headers.push(`user-agent: ${pick(below, ['kubectl/v1', '/', '\xff\xfe', 'x'.repeat(9000), ''])}`);
  // Without extras: if the damage leaves extras without a user, the server answers 500.
  if (chance(below, 15))
    headers.push(`impersonate-user: ${pick(below, ['u', '', 'system:serviceaccount:a:b', '\xff'])}`);
  if (chance(below, 25)) headers.push('accept-encoding: gzip, br;q=x', 'expect: 100-continue', 'x-forwarded-for: ,,,');
  return headers;
}

/** A request of any kind; `below` is its only source of randomness. */
export function requestOf(below: Below, known: Known): Case {
  const served = pick(below, known.served);
  const method = methodFor(below, served);
  const path = chance(below, 10) ? pick(below, PATHS) : resourcePath(below, method, served);
  const headers = headersOf(below, known);
  const query = queryOf(below);
  const writes = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method);
  const body =
    method === 'PATCH'
      ? patchOf(below, served, known.definitions)
      : writes
        ? bodyOf(below, method, served, known)
        : undefined;
  if (body) headers.push(`content-type: ${body.type}`);
  if (body && chance(below, 30)) headers.push('transfer-encoding: chunked');
  else if (body) headers.push(`content-length: ${body.bytes.length}`);
  const apply = body?.type.startsWith('application/apply')
    ? `${query ? '&' : '?'}fieldManager=${pick(below, ['m', 'n', ''])}&force=${pick(below, ['true', 'false'])}`
    : '';
  const line = `${method} ${path.replace(/[\s\u0000-\u001f]/g, '%20')}${(query + apply).replace(/[\s\u0000-\u001f]/g, '%20')}`;
  const head = Buffer.from(
    `${line} HTTP/1.1\r\n${headers.map(h => h.replace(/[\r\n\u0000]/g, ' ')).join('\r\n')}\r\n\r\n`,
    'latin1',
  );
  const title = `${line.slice(0, 300)} ${body ? `${body.type} ${Buffer.from(body.bytes).toString().slice(0, 1500)}` : ''}`;
  const chunked = headers.at(-1) === 'transfer-encoding: chunked';
  const sent = body
    ? chunked
      ? [`${body.bytes.length.toString(16)}\r\n`, body.bytes, '\r\n0\r\n\r\n']
      : [body.bytes]
    : [];
  return { title, bytes: Buffer.concat([head, ...sent.map(part => Buffer.from(part as Uint8Array))]) };
}

function bodyOf(below: Below, method: string, served: Served, known: Known): Body {
  if (method !== 'DELETE') return objectBody(below, served, known);
  const options = {
    ...served,
    name: 'options',
    kind: 'DeleteOptions',
    path: '/api/v1',
    group: undefined,
    version: undefined,
  };
  return chance(below, 2) ? { type: 'application/json', bytes: Buffer.alloc(0) } : objectBody(below, options, known);
}
