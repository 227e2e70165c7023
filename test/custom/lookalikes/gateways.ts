import {
  AGE,
  atomic,
  column,
  conditions,
  definition,
  type Definition,
  int32,
  keyed,
  kindShape,
  list,
  mapOf,
  object,
  oneOf,
  rules,
  type Shape,
  text,
  version,
} from './shapes.js';

/* Definitions with the features of those that describe gateways: many rules, lists with keys, two versions, defaults. */

const GROUP = 'gateway.networking.k8s.io';
/** Groups that end in `k8s.io` need this. */
const APPROVED = { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/3328' };
const EPOCH = '1970-01-01T00:00:00Z';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DOMAIN = `${LABEL}(\\.${LABEL})*`;
const HEADER = "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$";
const DURATION = '^([0-9]{1,5}(h|m|s|ms)){1,4}$';

const hostname = (about: string): Shape =>
  text(about, { minLength: 1, maxLength: 253, pattern: `^(\\*\\.)?${DOMAIN}$` });
const sectionName = (about: string): Shape => text(about, { minLength: 1, maxLength: 253, pattern: `^${DOMAIN}$` });
const group = (value?: string): Shape =>
  text('A group.', { maxLength: 253, pattern: `^$|^${DOMAIN}$`, ...(value === undefined ? {} : { default: value }) });
const kind = (value?: string): Shape =>
  text('A kind.', {
    minLength: 1,
    maxLength: 63,
    pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$',
    ...(value === undefined ? {} : { default: value }),
  });
const objectName = text('A name.', { minLength: 1, maxLength: 253 });
const namespace = text('A namespace.', { minLength: 1, maxLength: 63, pattern: `^${LABEL}$` });
const port = int32('A port.', { minimum: 1, maximum: 65_535 });
const controllerName = text('Who is in charge.', {
  minLength: 1,
  maxLength: 253,
  pattern: `^${DOMAIN}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`,
});
const waiting = (type: string): Shape => ({
  type,
  status: 'Unknown',
  reason: 'Pending',
  message: 'Waiting for controller',
  lastTransitionTime: EPOCH,
});

const gatewayClass = (): Definition => {
  const schema = kindShape(
    'A class of gateways.',
    {
      spec: object(
        'What the class is.',
        {
          controllerName: { ...controllerName, ...rules(['self == oldSelf', 'Value is immutable']) },
          description: text('For people.', { maxLength: 64 }),
          parametersRef: object(
            'More about it.',
            { group: group(), kind: kind(), name: objectName, namespace },
            { required: ['group', 'kind', 'name'] },
          ),
        },
        { required: ['controllerName'] },
      ),
      status: object(
        'What is known.',
        {
          conditions: conditions({ default: [waiting('Accepted')] }),
          supportedFeatures: keyed(
            ['name'],
            object('A feature.', { name: text('Its name.') }, { required: ['name'] }),
            'Features that are supported.',
            { maxItems: 64 },
          ),
        },
        { default: { conditions: [waiting('Accepted')] } },
      ),
    },
    { required: ['spec'] },
  );
  const columns = [
    column('Controller', 'string', '.spec.controllerName'),
    column('Accepted', 'string', '.status.conditions[?(@.type=="Accepted")].status'),
    AGE,
    column('Description', 'string', '.spec.description', { priority: 1 }),
  ];
  return definition(
    GROUP,
    'GatewayClass',
    { plural: 'gatewayclasses', singular: 'gatewayclass', shortNames: ['gc'], categories: ['gateway-api'] },
    'Cluster',
    [
      version('v1', schema, { additionalPrinterColumns: columns }),
      version('v1beta1', schema, { additionalPrinterColumns: columns, storage: false, deprecated: false }),
    ],
    APPROVED,
  );
};

const routeKind = object('A kind of route.', { group: group(GROUP), kind: kind() }, { required: ['kind'] });
const secretRef = object(
  'A Secret.',
  { group: group(''), kind: kind('Secret'), name: objectName, namespace },
  { required: ['name'] },
);
const labelSelector = object(
  'Which namespaces.',
  {
    matchExpressions: atomic(
      object(
        'A condition.',
        { key: text('Label.'), operator: text('Comparison.'), values: atomic({ type: 'string' }, 'Values.') },
        { required: ['key', 'operator'] },
      ),
      'Conditions that all hold.',
    ),
    matchLabels: mapOf({ type: 'string' }, 'Labels.'),
  },
  { 'x-kubernetes-map-type': 'atomic' },
);

const listener = object(
  'Where connections are accepted.',
  {
    name: sectionName('Its name.'),
    hostname: hostname('The host of requests.'),
    port,
    protocol: text('What is spoken.', {
      minLength: 1,
      maxLength: 255,
      pattern: `^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|${DOMAIN}\\/[A-Za-z0-9]+$`,
    }),
    tls: object(
      'Its TLS.',
      {
        mode: oneOf('Where TLS ends.', ['Terminate', 'Passthrough'], { default: 'Terminate' }),
        certificateRefs: list(secretRef, 'Certificates.', { maxItems: 64 }),
        options: mapOf(text('A value.', { maxLength: 4096, minLength: 0 }), 'More.', { maxProperties: 16 }),
      },
      rules([
        "self.mode == 'Terminate' ? size(self.certificateRefs) > 0 || size(self.options) > 0 : true",
        'certificateRefs or options must be specified when mode is Terminate',
      ]),
    ),
    allowedRoutes: object(
      'Who may add routes.',
      {
        namespaces: object(
          'From where.',
          {
            from: oneOf('Which namespaces.', ['All', 'Selector', 'Same'], { default: 'Same' }),
            selector: labelSelector,
          },
          { default: { from: 'Same' } },
        ),
        kinds: list(routeKind, 'Of which kinds.', { maxItems: 8 }),
      },
      { default: { namespaces: { from: 'Same' } } },
    ),
  },
  { required: ['name', 'port', 'protocol'] },
);

const address = object(
  'An address.',
  {
    type: text('Its type.', {
      default: 'IPAddress',
      minLength: 1,
      maxLength: 253,
      pattern: `^Hostname|IPAddress|NamedAddress|${DOMAIN}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`,
    }),
    value: text('The address.', { minLength: 1, maxLength: 253 }),
  },
  {
    required: ['value'],
    oneOf: [
      {
        properties: { type: { enum: ['IPAddress'] }, value: { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] } },
      },
      { properties: { type: { not: { enum: ['IPAddress'] } } } },
    ],
    ...rules([
      `self.type == 'Hostname' ? self.value.matches(r"""^(\\*\\.)?${DOMAIN}$"""): true`,
      'Hostname value must only contain valid characters (matching ^(\\*\\.)?…)',
    ]),
  },
);

const gatewaySchema = (): Shape =>
  kindShape(
    'A gateway.',
    {
      spec: object(
        'What it does.',
        {
          gatewayClassName: objectName,
          listeners: keyed(['name'], listener, 'Where connections are accepted.', {
            minItems: 1,
            maxItems: 64,
            ...rules(
              [
                "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)",
                "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
              ],
              [
                "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)",
                'tls mode must be Terminate for protocol HTTPS',
              ],
              [
                "self.all(l, l.protocol in ['TCP', 'UDP']  ? (!has(l.hostname) || l.hostname == '') : true)",
                "hostname must not be specified for protocols ['TCP', 'UDP']",
              ],
              [
                'self.all(l1, self.exists_one(l2, l1.name == l2.name))',
                'Listener name must be unique within the Gateway',
              ],
              [
                'self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && ' +
                  '(has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : ' +
                  '!has(l1.hostname) && !has(l2.hostname))))',
                'Combination of port, protocol and hostname must be unique for each listener',
              ],
            ),
          }),
          addresses: list(address, 'Addresses that are asked for.', {
            maxItems: 16,
            ...rules(
              [
                "self.all(a1, a1.type == 'IPAddress' ? self.exists_one(a2, a2.type == a1.type && a2.value == a1.value) : true )",
                'IPAddress values must be unique',
              ],
              [
                "self.all(a1, a1.type == 'Hostname' ? self.exists_one(a2, a2.type == a1.type && a2.value == a1.value) : true )",
                'Hostname values must be unique',
              ],
            ),
          }),
          infrastructure: object('What is made for it.', {
            annotations: mapOf(text('A value.', { maxLength: 4096 }), 'Annotations.', { maxProperties: 8 }),
            labels: mapOf(
              text('A value.', { maxLength: 63, pattern: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$' }),
              'Labels.',
              {
                maxProperties: 8,
                ...rules([
                  "self.all(key, key.split('/')[0].size() < 253)",
                  "If specified, the label key's prefix must be shorter than 253",
                ]),
              },
            ),
          }),
        },
        { required: ['gatewayClassName', 'listeners'] },
      ),
      status: object(
        'What is known.',
        {
          addresses: list(address, 'Addresses that it has.', { maxItems: 16 }),
          conditions: conditions({ default: [waiting('Accepted'), waiting('Programmed')] }),
          listeners: keyed(
            ['name'],
            object(
              'What is known of a listener.',
              {
                name: sectionName('Its name.'),
                attachedRoutes: int32('How many routes it has.'),
                supportedKinds: list(routeKind, 'Kinds of routes.', { maxItems: 8 }),
                conditions: conditions(),
              },
              { required: ['attachedRoutes', 'conditions', 'name', 'supportedKinds'] },
            ),
            'What is known of listeners.',
            { maxItems: 64 },
          ),
        },
        { default: { conditions: [waiting('Accepted'), waiting('Programmed')] } },
      ),
    },
    { required: ['spec'] },
  );

const gateway = (): Definition => {
  const columns = [
    column('Class', 'string', '.spec.gatewayClassName'),
    column('Address', 'string', '.status.addresses[*].value'),
    column('Programmed', 'string', '.status.conditions[?(@.type=="Programmed")].status'),
    AGE,
  ];
  const schema = gatewaySchema();
  return definition(
    GROUP,
    'Gateway',
    { plural: 'gateways', shortNames: ['gtw'], categories: ['gateway-api'] },
    'Namespaced',
    [
      version('v1', schema, { additionalPrinterColumns: columns }),
      version('v1beta1', schema, { additionalPrinterColumns: columns, storage: false }),
    ],
    APPROVED,
  );
};

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

const httpRoute = (): Definition => {
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

const referenceGrant = (): Definition => {
  const from = object(
    'Who refers.',
    { group: group(), kind: kind(), namespace },
    { required: ['group', 'kind', 'namespace'] },
  );
  const to = object('To what.', { group: group(), kind: kind(), name: objectName }, { required: ['group', 'kind'] });
  const schema = kindShape('Allows references.', {
    spec: object(
      'What is allowed.',
      {
        from: list(from, 'Who refers.', { minItems: 1, maxItems: 16 }),
        to: list(to, 'To what.', { minItems: 1, maxItems: 16 }),
      },
      { required: ['from', 'to'] },
    ),
  });
  return definition(
    GROUP,
    'ReferenceGrant',
    { plural: 'referencegrants', shortNames: ['refgrant'], categories: ['gateway-api'] },
    'Namespaced',
    [
      version('v1alpha2', schema, {
        additionalPrinterColumns: [AGE],
        subresources: undefined,
        storage: false,
        deprecated: true,
        deprecationWarning: 'The v1alpha2 version of ReferenceGrant has been deprecated and will be removed.',
      }),
      version('v1beta1', schema, { additionalPrinterColumns: [AGE], subresources: undefined }),
    ],
    APPROVED,
  );
};

/** All definitions of this family. */
export const gateways = (): readonly Definition[] => [gatewayClass(), gateway(), httpRoute(), referenceGrant()];
