import type { Api } from '../../api/support.js';
import type { Part, Sender } from './requests.js';
import { withBody } from './requests.js';

const GROUP = 'slow.example.com';
const FORMATS = [
  ...['date', 'date-time', 'datetime', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'cidr', 'mac', 'uri', 'uuid'],
  ...['uuid3', 'uuid4', 'uuid5', 'isbn', 'isbn10', 'isbn13', 'creditcard', 'ssn', 'hexcolor', 'rgbcolor', 'byte'],
  ...['password', 'bsonobjectid', 'k8s-short-name', 'k8s-long-name'],
];
const PATTERNS = ['^(a+)+$', '(a|a)*b', '[ \\t]+$', '^(.+)x(.*)y$', 'a{1,100}b', '(\\w+\\s?)+$'];

const VALUES: Readonly<Record<string, string>> = {
  date: '2024-01-02',
  'date-time': '2024-01-02T03:04:05.6Z',
  duration: '1h2m',
  email: 'a <b@c.d>',
  hostname: 'a.b-c.d',
  ipv4: '10.0.0.1',
  ipv6: 'a::1:b',
  cidr: '10.0.0.0/8',
  mac: '00:11:22:33:44:55',
  uri: 'https://a:b@c.d/e?f#g',
  rgbcolor: 'rgb(1, 2, 3)',
};

/** Defines a kind with a string of each format, and of some patterns. */
export async function defineTexts(api: Api): Promise<void> {
  const ofFormats = FORMATS.map(format => [`f-${format}`, { type: 'string', format }] as const);
  const ofPatterns = PATTERNS.map((pattern, i) => [`p-${i}`, { type: 'string', pattern }] as const);
  const schema = { type: 'object', properties: Object.fromEntries([...ofFormats, ...ofPatterns]) };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const names = { plural: 'texts', singular: 'text', kind: 'Text', listKind: 'TextList' };
  await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `texts.${GROUP}` },
    spec: { group: GROUP, scope: 'Cluster', names, versions: [version] },
  });
  await api.until(async () => (await api.get(`/apis/${GROUP}/v1/texts`)).status === 200);
}

/** Creates of such objects, as dry runs. */
export const customParts = ({ token }: Sender): Part[] =>
  [...FORMATS.map(format => `f-${format}`), ...PATTERNS.map((_, i) => `p-${i}`)].map(field => ({
    name: `custom object, ${field}`,
    value: VALUES[field.slice(2)] ?? 'a-1',
    bytes: 100_000,
    request: text => {
      const object = { apiVersion: `${GROUP}/v1`, kind: 'Text', metadata: { name: 'a' }, [field]: text };
      const target = `/apis/${GROUP}/v1/texts?dryRun=All`;
      return withBody(token, 'POST', target, 'application/json', JSON.stringify(object));
    },
  }));
