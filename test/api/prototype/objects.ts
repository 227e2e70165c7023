/** Objects with many maps and members, and a definition that has fields and columns with the name `outside`. */

const text = { type: 'string' };
const spec = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    s: text,
    plain: { type: 'object', properties: { a: text }, required: ['outside'] },
    map: {
      type: 'object',
      maxProperties: 10,
      additionalProperties: { type: 'object', properties: { a: { ...text, maxLength: 10, default: 'b' } } },
    },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    embedded: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    list: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'outside'],
      items: { type: 'object', properties: { k: text, outside: { ...text, default: 'x' } }, required: ['k'] },
    },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
  },
  'x-kubernetes-validations': [
    { rule: "self.map.all(k, self.map[k].a != 'z')", fieldPath: '.s' },
    { rule: "!('outside' in self.map) || has(self.s)", messageExpression: "'outside' + self.s" },
  ],
};

/** Serves `outsides`. */
export const definition = {
  metadata: { name: 'outsides.outside.example.com' },
  spec: {
    group: 'outside.example.com',
    scope: 'Namespaced',
    names: {
      plural: 'outsides',
      singular: 'outside',
      kind: 'Outside',
      listKind: 'OutsideList',
      shortNames: ['out'],
      categories: ['outside'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec,
              outside: { type: 'object', properties: { outside: { type: 'integer' }, other: text } },
              status: { type: 'object', properties: { n: { type: 'integer' }, outside: text } },
            },
          },
        },
        additionalPrinterColumns: [
          { name: 'outside', type: 'string', jsonPath: '.outside.outside' },
          { name: 'map', type: 'string', jsonPath: '.spec.map.outside.outside' },
          { name: 'filter', type: 'string', jsonPath: '.spec.list[?(@.outside=="x")].outside' },
          { name: 'all', type: 'string', jsonPath: '..outside' },
        ],
        selectableFields: [{ jsonPath: '.outside.other' }],
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.n',
            statusReplicasPath: '.status.n',
            labelSelectorPath: '.status.outside',
          },
        },
      },
    ],
  },
};

export const outside = {
  apiVersion: 'outside.example.com/v1',
  kind: 'Outside',
  metadata: { name: 'a' },
  spec: {
    n: 1,
    s: 'x',
    plain: { a: 'b', outside: 'c' },
    map: { b: { a: 'c' } },
    free: { a: { b: [{ c: 'd' }] } },
    embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 'b' } }, spec: { a: 'b' } },
    list: [{ k: 'a' }, { k: 'b' }],
    set: ['a', 'b'],
  },
};

/** Adds a node selector with the name `outside` to pods. */
export const runtimeClass = {
  metadata: { name: 'rich' },
  handler: 'h',
  scheduling: { nodeSelector: { outside: 'b' } },
};

const labelSelector = { matchLabels: { a: 'b' } };
export const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'rich', annotations: { a: 'b' }, labels: { app: 'a' }, finalizers: ['example.com/a'] },
  spec: {
    nodeSelector: { a: 'b' },
    runtimeClassName: 'rich',
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
        },
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, podAffinityTerm: { topologyKey: 'a', labelSelector } },
        ],
      },
    },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule', labelSelector }],
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }],
    containers: [
      {
        name: 'c',
        image: 'nginx',
        env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
        resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } },
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        livenessProbe: { httpGet: { path: '/', port: 80, scheme: 'HTTP' } },
        lifecycle: { postStart: { exec: { command: ['a'] } } },
        securityContext: { seccompProfile: { type: 'RuntimeDefault' }, capabilities: { add: ['NET_ADMIN'] } },
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
    volumes: [
      { name: 'v', projected: { sources: [{ configMap: { name: 'a' } }, { secret: { name: 'a' } }] } },
      { name: 'w', hostPath: { path: '/a', type: '' } },
    ],
  },
};

const container = {
  type: 'Container',
  min: { cpu: '1' },
  max: { cpu: '3' },
  default: { cpu: '2' },
  defaultRequest: { cpu: '1' },
  maxLimitRequestRatio: { cpu: '3' },
};
export const limitRange = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'rich' },
  spec: { limits: [container] },
};
