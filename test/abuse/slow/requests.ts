import { CREDENTIALS_BYTES, HEADER_VALUE_BYTES } from '../../../core/limits.js';
import type { Place } from './kinds.js';
import { changed } from './kinds.js';
import type { Form } from './texts.js';
import { MERGE, STRATEGIC } from '../../support/mediaTypes.js';

/** A part of requests that holds a text from outside. */
export interface Part {
  readonly name: string;
  /** A valid value. */
  readonly value: string;
  /** The approximate length of the longest text that the server reads, in bytes. */
  readonly bytes: number;
  /** The request with a text in the part; undefined for texts that it cannot hold. */
  readonly request: (text: string) => Buffer | undefined;
}

/** Bytes of a path or query: the rest of the header block. */
const TARGET_BYTES = 60_000;
const BODY_BYTES = 100_000;
const MAPS = '/api/v1/namespaces/default/configmaps';

export interface Sender {
  readonly token: string;
}

type Lines = readonly (readonly [string, string])[];

const head = (method: string, target: string, headers: Lines): Buffer =>
  Buffer.from(
    `${[`${method} ${target} HTTP/1.1`, 'host: a', ...headers.map(line => line.join(': '))].join('\r\n')}\r\n\r\n`,
  );

const bearer = (token: string): Lines[number] => ['authorization', `Bearer ${token}`];

const HANDSHAKE: Lines = [
  ['connection', 'Upgrade'],
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
  ['sec-websocket-key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
];

/** Headers that are read, with valid values. */
const HEADERS: Lines = [
  ['accept', 'application/json;as=Table;v=v1;g=meta.k8s.io, application/yaml;q=0.5, */*'],
  ['accept-encoding', 'br;q=0.1, gzip;q=0.5'],
  ['audit-id', 'a-b'],
  ['authorization', 'Bearer a.b.c'],
  ['connection', 'close, Upgrade'],
  ['content-length', '1'],
  ['content-type', 'application/json; charset=utf-8; a="b"'],
  ['cookie', 'a=b; c=d'],
  ['expect', '100-continue'],
  ['if-match', '"a", W/"b"'],
  ['if-none-match', '"a", W/"b"'],
  ['impersonate-extra-a', 'a'],
  ['impersonate-group', 'a'],
  ['impersonate-uid', 'a'],
  ['impersonate-user', 'system:serviceaccount:default:default'],
  ['sec-websocket-key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
  ['sec-websocket-protocol', 'base64url.bearer.authorization.k8s.io.YQ, base64.binary.k8s.io'],
  ['sec-websocket-version', '13'],
  ['transfer-encoding', 'chunked'],
  ['upgrade', 'websocket'],
  ['user-agent', 'kubectl/v1.32.0 (linux/amd64) kubernetes/a'],
  ['x-forwarded-for', '10.0.0.1, ::1'],
  ['x-real-ip', '10.0.0.1'],
];

const CREDENTIALS = ['authorization', 'sec-websocket-protocol'];

/** Each header, in requests of anonymous senders, of the administrator, and in WebSocket handshakes. */
function headerParts({ token }: Sender): Part[] {
  const senders: readonly (readonly [string, Lines])[] = [
    ['', []],
    [' of the administrator', [bearer(token)]],
    [' of a handshake', HANDSHAKE],
  ];
  return HEADERS.flatMap(([name, value]) =>
    senders.map(([sender, lines]) => ({
      name: `header ${name}${sender}`,
      value,
      bytes: (CREDENTIALS.includes(name) ? CREDENTIALS_BYTES : HEADER_VALUE_BYTES) - 100,
      request: text =>
        /[\r\n\0]/.test(text)
          ? undefined
          : head('GET', `${MAPS}?limit=1`, [...lines.filter(([other]) => other !== name), [name, text]]),
    })),
  );
}

const QUERY: Readonly<Record<string, string>> = {
  labelSelector: 'a.b/c in (d, e),!f,g==h',
  fieldSelector: 'metadata.name=a,metadata.namespace!=b',
  resourceVersion: '1',
  resourceVersionMatch: 'Exact',
  continue: 'YWJj.ZGVm',
  limit: '10',
  timeoutSeconds: '1',
  watch: 'false',
  allowWatchBookmarks: 'true',
  sendInitialEvents: 'true',
  pretty: 'true',
  includeObject: 'Metadata',
  dryRun: 'All',
  fieldManager: 'a',
  fieldValidation: 'Strict',
  force: 'true',
  propagationPolicy: 'Background',
  gracePeriodSeconds: '1',
  orphanDependents: 'true',
  'a.b': 'c',
};

/** Encodes characters that a request line cannot hold. A text that is too long is cut. */
const encoded = (text: string, all: boolean): string =>
  (all ? encodeURIComponent(text) : text.replace(/[^!-~]|[#?]/gu, encodeURIComponent)).slice(0, TARGET_BYTES);

const targetParts = (
  name: string,
  value: string,
  method: string,
  target: (text: string) => string,
  token: string,
): Part[] =>
  [true, false].map(all => ({
    name: `${name}${all ? '' : ', not encoded'}`,
    value,
    bytes: TARGET_BYTES,
    request: text => head(method, target(encoded(text, all)), [bearer(token), ['content-length', '0']]),
  }));

const PATHS: readonly string[] = [
  '/X',
  '/X/',
  '/api/X',
  '/api/v1/X',
  '/apis/X',
  '/apis/apps/X',
  '/apis/apps/v1/X',
  '/api/v1/namespaces/X',
  '/api/v1/namespaces/X/pods',
  '/api/v1/namespaces/default/X',
  '/api/v1/namespaces/default/pods/X',
  '/api/v1/namespaces/default/pods/a/X',
  '/api/v1/namespaces/default/services/X/proxy/a',
  '/api/v1/watch/X',
  '/openapi/v3/X',
  '/livez/X',
  '/.well-known/X',
];

function targets({ token }: Sender): Part[] {
  return [
    ...Object.entries(QUERY).flatMap(([name, value]) =>
      ['GET', 'DELETE', 'POST'].flatMap(method =>
        targetParts(
          `query parameter ${name} of ${method}`,
          value,
          method,
          text => `${MAPS}${method === 'DELETE' ? '/none' : ''}?${name}=${text}`,
          token,
        ),
      ),
    ),
    ...targetParts('query', 'a=b&c', 'GET', text => `${MAPS}?limit=1&${text}`, token),
    ...PATHS.flatMap(path => targetParts(`path ${path}`, 'a.b-c', 'GET', text => path.replace('X', () => text), token)),
  ];
}

/** A request of the administrator with a body. */
export function withBody(token: string, method: string, target: string, type: string, body: string): Buffer {
  const bytes = Buffer.from(body);
  const lines: Lines = [bearer(token), ['content-type', type], ['content-length', String(bytes.length)]];
  return Buffer.concat([head(method, target, lines), bytes]);
}

const json = JSON.stringify;
const map = (members: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...members });

/** Bodies that are not parsed as an object of a kind, by media type. */
const BODIES: readonly (readonly [string, string, string, string, string, (text: string) => string])[] = [
  ['JSON', '{"a":1}', 'POST', MAPS, 'application/json', text => text],
  ['JSON in JSON', '{"a":1}', 'POST', MAPS, 'application/json', text => `{"kind":"ConfigMap","data":${text}`],
  ['a JSON string', '\\n', 'POST', MAPS, 'application/json', text => `{"kind":"ConfigMap","data":{"a":"${text}"}}`],
  ['a JSON number', '-1.5e3', 'POST', MAPS, 'application/json', text => `{"kind":"ConfigMap","data":{"a":${text}}}`],
  ['YAML', 'a: [b, {c: d}]', 'POST', MAPS, 'application/yaml', text => text],
  ['a YAML value', '!!str "a"', 'POST', MAPS, 'application/yaml', text => `kind: ConfigMap\ndata:\n  a: ${text}`],
  ['a YAML block', 'a', 'POST', MAPS, 'application/yaml', text => `kind: ConfigMap\ndata:\n  a: |\n    ${text}`],
  ['an applied YAML key', 'a', 'PATCH', `${MAPS}/a`, 'application/apply-patch+yaml', text => `data:\n  ${text}: b`],
  ['protobuf', 'k8s\0', 'POST', MAPS, 'application/vnd.kubernetes.protobuf', text => text],
  [
    'a path',
    '/data/a~1b',
    'PATCH',
    `${MAPS}/slow`,
    'application/json-patch+json',
    path => json([{ op: 'add', path, value: 'a' }]),
  ],
  [
    'a source',
    '/data/a',
    'PATCH',
    `${MAPS}/slow`,
    'application/json-patch+json',
    from => json([{ op: 'copy', from, path: '/data/b' }]),
  ],
  ['an operation', 'add', 'PATCH', `${MAPS}/slow`, 'application/json-patch+json', op => json([{ op, path: '/data' }])],
  ['a merged key', 'a', 'PATCH', `${MAPS}/slow`, MERGE, key => json({ data: { [key]: 'a' } })],
  ['a directive', 'replace', 'PATCH', `${MAPS}/slow`, STRATEGIC, $patch => json({ $patch })],
  ['a directive key', '$patch', 'PATCH', `${MAPS}/slow`, STRATEGIC, key => json({ [key]: [] })],
  ['data', 'a', 'POST', MAPS, 'application/json', text => json(map({ data: { [text.slice(0, 200)]: text } }))],
];

const bodyParts = ({ token }: Sender): Part[] =>
  BODIES.map(([name, value, method, target, type, make]) => ({
    name: `${type}: ${name}`,
    value,
    bytes: BODY_BYTES,
    request: text => withBody(token, method, `${target}?dryRun=All&fieldManager=a&force=true`, type, make(text)),
  }));

/** Creates of an object with a text in a place, as dry runs with all admission plugins. */
export function objectPart({ token }: Sender, place: Place): Part {
  const { resource, value } = place;
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const target = `${root}/${resource.version}${resource.namespaced ? '/namespaces/default' : ''}/${resource.plural}`;
  const { apiVersion, kind } = resource;
  return {
    name: `${kind} ${place.at.join('.')}`,
    value,
    bytes: BODY_BYTES,
    request: text => {
      const object = { ...(changed(place, text) as object), apiVersion, kind };
      return withBody(token, 'POST', `${target}?dryRun=All`, 'application/json', json(object));
    },
  };
}

/** All parts of requests except the objects of kinds. */
export const requestParts = (sender: Sender): Part[] => [
  ...headerParts(sender),
  ...targets(sender),
  ...bodyParts(sender),
];

const podWith = (volume: object, env: object): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  spec: { containers: [{ name: 'a', image: 'a', env: [env] }], volumes: [{ name: 'a', ...volume }] },
});

/** Requests with texts that took seconds in earlier versions; every run has them. */
export function knownParts({ token }: Sender): (readonly [Part, Form])[] {
  const post = (name: string, target: string, make: (text: string) => object): Part => ({
    name,
    value: '',
    bytes: BODY_BYTES,
    request: text => withBody(token, 'POST', `${target}?dryRun=All`, 'application/json', json(make(text))),
  });
  const pods = '/api/v1/namespaces/default/pods';
  const spaces = { begin: 'a', unit: ' ', end: 'b' };
  const review = post('token', '/apis/authentication.k8s.io/v1/tokenreviews', text => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: text },
  }));
  const iscsi = post('name of an iSCSI node', pods, iqn =>
    podWith({ iscsi: { targetPortal: 'a', iqn, lun: 1 } }, { name: 'A', value: 'a' }),
  );
  const fieldPath = post('path of a field', pods, path =>
    podWith({ emptyDir: {} }, { name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: path } } }),
  );
  const ofHeaders = headerParts({ token }).filter(({ name }) => /authorization|protocol/.test(name));
  return [
    ...ofHeaders.map(part => [part, spaces] as const),
    [review, spaces],
    [iscsi, { begin: 'iqn.2001-04.', unit: 'a', end: '!' }],
    [fieldPath, { begin: 'a', unit: "['", end: '' }],
  ];
}
