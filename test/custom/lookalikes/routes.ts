import {
  GROUP,
  APPROVED,
  HEADER,
  DURATION,
  hostname,
  sectionName,
  group,
  kind,
  objectName,
  namespace,
  port,
  controllerName,
} from './gatewayParts.js';
import {
  AGE,
  column,
  conditions,
  definition,
  type Definition,
  int32,
  keyed,
  kindShape,
  list,
  object,
  oneOf,
  rules,
  type Shape,
  text,
  version,
} from './shapes.js';

const header = object(
  'A header.',
  {
    name: text('Its name.', { minLength: 1, maxLength: 256, pattern: HEADER }),
    value: text('Its value.', { minLength: 1, maxLength: 4096 }),
  },
  { required: ['name', 'value'] },
);
const headerFilter = (): Shape =>
  object('Changes headers.', {
    add: keyed(['name'], header, 'Added.', { maxItems: 16 }),
    remove: list({ type: 'string' }, 'Removed.', { maxItems: 16, 'x-kubernetes-list-type': 'set' }),
    set: keyed(['name'], header, 'Set.', { maxItems: 16 }),
  });

const backendRef = (more: { readonly [name: string]: Shape } = {}): Shape =>
  object(
    'Where requests go.',
    {
      group: group(''),
      kind: kind('Service'),
      name: objectName,
      namespace,
      port,
      weight: int32('Its part of the requests.', { default: 1, minimum: 0, maximum: 1_000_000 }),
      ...more,
    },
    {
      required: ['name'],
      ...rules([
        "(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true",
        'Must have port for Service reference',
      ]),
    },
  );

const pathModifier = (): Shape =>
  object(
    'Changes the path.',
    {
      type: oneOf('How.', ['ReplaceFullPath', 'ReplacePrefixMatch']),
      replaceFullPath: text('The path.', { maxLength: 1024 }),
      replacePrefixMatch: text('The prefix.', { maxLength: 1024 }),
    },
    {
      required: ['type'],
      ...rules(
        [
          "self.type == 'ReplaceFullPath' ? has(self.replaceFullPath) : true",
          "replaceFullPath must be specified when type is set to 'ReplaceFullPath'",
        ],
        [
          "has(self.replaceFullPath) ? self.type == 'ReplaceFullPath' : true",
          "type must be 'ReplaceFullPath' when replaceFullPath is set",
        ],
        [
          "self.type == 'ReplacePrefixMatch' ? has(self.replacePrefixMatch) : true",
          "replacePrefixMatch must be specified when type is set to 'ReplacePrefixMatch'",
        ],
      ),
    },
  );

/** Filters by type: each has one member that belongs to it. */
const FILTERS = [
  ['RequestHeaderModifier', 'requestHeaderModifier'],
  ['ResponseHeaderModifier', 'responseHeaderModifier'],
  ['RequestMirror', 'requestMirror'],
  ['RequestRedirect', 'requestRedirect'],
  ['URLRewrite', 'urlRewrite'],
  ['ExtensionRef', 'extensionRef'],
] as const;

const filter = (): Shape =>
  object(
    'What happens to a request.',
    {
      type: oneOf(
        'Which filter.',
        FILTERS.map(([type]) => type),
      ),
      requestHeaderModifier: headerFilter(),
      responseHeaderModifier: headerFilter(),
      requestMirror: object('Sends a copy.', { backendRef: backendRef() }, { required: ['backendRef'] }),
      requestRedirect: object('Redirects.', {
        hostname: hostname('To this host.'),
        path: pathModifier(),
        port,
        scheme: oneOf('By this scheme.', ['http', 'https']),
        statusCode: { type: 'integer', description: 'With this code.', default: 302, enum: [301, 302] },
      }),
      urlRewrite: object('Changes the URL.', { hostname: hostname('The host.'), path: pathModifier() }),
      extensionRef: object(
        'Another kind.',
        { group: group(), kind: kind(), name: objectName },
        { required: ['group', 'kind', 'name'] },
      ),
    },
    {
      required: ['type'],
      ...rules(
        ...FILTERS.flatMap(([type, member]): [string, string][] => [
          [
            `!(has(self.${member}) && self.type != '${type}')`,
            `filter.${member} must be nil if the filter.type is not ${type}`,
          ],
          [
            `!(!has(self.${member}) && self.type == '${type}')`,
            `filter.${member} must be specified for ${type} filter.type`,
          ],
        ]),
      ),
    },
  );

const filters = (): Shape =>
  list(filter(), 'Filters in their order.', {
    maxItems: 16,
    ...rules(
      [
        "!(self.exists(f, f.type == 'RequestRedirect') && self.exists(f, f.type == 'URLRewrite'))",
        'May specify either requestRedirect or urlRewrite, but not both',
      ],
      ...['RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestRedirect', 'URLRewrite'].map(
        (type): [string, string] => [
          `self.filter(f, f.type == '${type}').size() <= 1`,
          `${type} filter cannot be repeated`,
        ],
      ),
    ),
  });

const match = (): Shape =>
  object('Which requests.', {
    path: object(
      'By path.',
      {
        type: oneOf('How it is compared.', ['Exact', 'PathPrefix', 'RegularExpression'], { default: 'PathPrefix' }),
        value: text('The path.', { default: '/', maxLength: 1024 }),
      },
      {
        default: { type: 'PathPrefix', value: '/' },
        ...rules(
          [
            "(self.type in ['Exact','PathPrefix']) ? self.value.startsWith('/') : true",
            "value must be an absolute path and start with '/' when type one of ['Exact', 'PathPrefix']",
          ],
          ...['//', '/./', '/../', '%2f', '%2F', '#'].map((part): [string, string] => [
            `(self.type in ['Exact','PathPrefix']) ? !self.value.contains('${part}') : true`,
            `must not contain '${part}' when type one of ['Exact', 'PathPrefix']`,
          ]),
          ...['/..', '/.'].map((part): [string, string] => [
            `(self.type in ['Exact','PathPrefix']) ? !self.value.endsWith('${part}') : true`,
            `must not end with '${part}' when type one of ['Exact', 'PathPrefix']`,
          ]),
          [
            '(self.type in [\'Exact\',\'PathPrefix\']) ? self.value.matches(r"""^(?:[-A-Za-z0-9/._~!$&\'()*+,;=:@]|[%][0-9a-fA-F]{2})+$""") : true',
            'must only contain valid characters',
          ],
        ),
      },
    ),
    method: oneOf('By method.', ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']),
    ...Object.fromEntries(
      ['headers', 'queryParams'].map(member => [
        member,
        keyed(
          ['name'],
          object(
            'A value.',
            {
              name: text('Its name.', { minLength: 1, maxLength: 256, pattern: HEADER }),
              type: oneOf('How it is compared.', ['Exact', 'RegularExpression'], { default: 'Exact' }),
              value: text('The value.', { minLength: 1, maxLength: 1024 }),
            },
            { required: ['name', 'value'] },
          ),
          `By ${member}.`,
          { maxItems: 16 },
        ),
      ]),
    ),
  });

const parentRef = object(
  'Whose route it is.',
  {
    group: group(GROUP),
    kind: kind('Gateway'),
    name: objectName,
    namespace,
    port,
    sectionName: sectionName('Which listener.'),
  },
  { required: ['name'] },
);
const SAME =
  "p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.__namespace__) || p1.__namespace__ == '') " +
  "&& (!has(p2.__namespace__) || p2.__namespace__ == '')) || (has(p1.__namespace__) && has(p2.__namespace__) && " +
  'p1.__namespace__ == p2.__namespace__ ))';

const routeRule = (): Shape =>
  object(
    'What happens to some requests.',
    {
      name: sectionName('Its name.'),
      matches: list(match(), 'Which requests.', {
        default: [{ path: { type: 'PathPrefix', value: '/' } }],
        maxItems: 64,
      }),
      filters: filters(),
      backendRefs: list(backendRef({ filters: filters() }), 'Where they go.', { maxItems: 16 }),
      timeouts: object(
        'How long it may take.',
        {
          request: text('In all.', { pattern: DURATION }),
          backendRequest: text('For one attempt.', { pattern: DURATION }),
        },
        rules([
          "!(has(self.request) && has(self.backendRequest) && duration(self.request) != duration('0s') && " +
            'duration(self.backendRequest) > duration(self.request))',
          'backendRequest timeout cannot be longer than request timeout',
        ]),
      ),
    },
    rules(
      [
        '(has(self.backendRefs) && size(self.backendRefs) > 0) ? (!has(self.filters) || ' +
          'self.filters.all(f, !has(f.requestRedirect))): true',
        'RequestRedirect filter must not be used together with backendRefs',
      ],
      [
        '(has(self.filters) && self.filters.exists_one(f, has(f.requestRedirect) && has(f.requestRedirect.path) && ' +
          "f.requestRedirect.path.type == 'ReplacePrefixMatch' && has(f.requestRedirect.path.replacePrefixMatch))) ? " +
          "((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true",
        'When using RequestRedirect filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified',
      ],
    ),
  );

const routeSchema = (): Shape =>
  kindShape(
    'How requests reach backends.',
    {
      spec: object('What it does.', {
        hostnames: list(hostname('The host of requests.'), 'Hosts.', { maxItems: 16 }),
        parentRefs: list(parentRef, 'Whose route it is.', {
          maxItems: 32,
          ...rules(
            [
              `self.all(p1, self.all(p2, (${SAME}) ? ((!has(p1.sectionName) || p1.sectionName == '') == ` +
                "(!has(p2.sectionName) || p2.sectionName == '')) : true))",
              'sectionName must be specified when parentRefs includes 2 or more references to the same parent',
            ],
            [
              `self.all(p1, self.exists_one(p2, ${SAME} && (((!has(p1.sectionName) || p1.sectionName == '') && ` +
                "(!has(p2.sectionName) || p2.sectionName == '')) || ( has(p1.sectionName) && has(p2.sectionName) && " +
                'p1.sectionName == p2.sectionName))))',
              'sectionName must be unique when parentRefs includes 2 or more references to the same parent',
            ],
          ),
        }),
        rules: list(routeRule(), 'Its rules.', {
          default: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }] }],
          maxItems: 16,
          ...rules([
            '(self.size() > 0 ? self[0].matches.size() : 0) + (self.size() > 1 ? self[1].matches.size() : 0) + ' +
              '(self.size() > 2 ? self[2].matches.size() : 0) + (self.size() > 3 ? self[3].matches.size() : 0) <= 128',
            'the first rules have more than 128 matches',
          ]),
        }),
      }),
      status: object(
        'What is known.',
        {
          parents: list(
            object(
              'What a parent knows.',
              { parentRef, controllerName, conditions: conditions({ minItems: 1 }) },
              { required: ['controllerName', 'parentRef'] },
            ),
            'What parents know.',
            { maxItems: 32 },
          ),
        },
        { required: ['parents'] },
      ),
    },
    { required: ['spec'] },
  );

/** The definition of routes, which has the most rules. */
export const httpRoute = (): Definition => {
  const columns = [column('Hostnames', 'string', '.spec.hostnames'), AGE];
  const schema = routeSchema();
  return definition(
    GROUP,
    'HTTPRoute',
    { plural: 'httproutes', categories: ['gateway-api'] },
    'Namespaced',
    [
      version('v1', schema, { additionalPrinterColumns: columns }),
      version('v1beta1', schema, { additionalPrinterColumns: columns, storage: false }),
    ],
    APPROVED,
  );
};
