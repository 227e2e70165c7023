import {
  GROUP,
  APPROVED,
  DOMAIN,
  hostname,
  sectionName,
  group,
  kind,
  objectName,
  namespace,
  port,
  controllerName,
  waiting,
} from './gatewayParts.js';
import { httpRoute } from './routes.js';
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

/* Definitions with the features of those that describe gateways: rules, lists with keys, two versions, defaults. */

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
