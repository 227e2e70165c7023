import { CERTIFICATE_REQUEST } from '../../access/data/certificateRequest.js';

const container = {
  name: 'c',
  image: 'nginx:1',
  ports: [{ containerPort: 80, name: 'http' }],
  env: [{ name: 'A', value: 'b' }],
};
const labels = { app: 'a' };
const template = {
  metadata: { labels },
  spec: { containers: [container], volumes: [{ name: 'v', emptyDir: {} }], restartPolicy: 'Always' },
};
const selector = { matchLabels: labels };
const job = { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } }, backoffLimit: 2 };
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const webhook = {
  name: 'w.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/x' },
  // Matches no object of the test: a webhook that cannot be reached would refuse all requests.
  rules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], resources: ['nothings'], operations: ['CREATE'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const widget = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        n: { type: 'integer', minimum: 0, default: 1 },
        s: { type: 'string', pattern: '^(a+)+b?$', maxLength: 100 },
        either: { 'x-kubernetes-int-or-string': true },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        map: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 10 },
        list: {
          type: 'array',
          maxItems: 10,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: {
            type: 'object',
            required: ['k'],
            properties: { k: { type: 'string', maxLength: 10 }, v: { type: 'number' } },
          },
        },
      },
      'x-kubernetes-validations': [{ rule: '!has(self.n) || self.n < 100', message: 'too many' }],
    },
    status: { type: 'object', properties: { n: { type: 'integer' } } },
  },
};
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };

/** Members of an acceptable object besides metadata, by resource. Resources that are not listed have none. */
export const SEEDS: ReadonlyMap<string, object> = new Map<string, object>(
  Object.entries({
    pods: { spec: template.spec },
    podtemplates: { template },
    replicationcontrollers: { spec: { replicas: 1, selector: labels, template } },
    deployments: {
      spec: {
        replicas: 1,
        selector,
        template,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
      },
    },
    replicasets: { spec: { selector, template } },
    daemonsets: { spec: { selector, template } },
    statefulsets: { spec: { selector, template, serviceName: 's', volumeClaimTemplates: [] } },
    jobs: { spec: job },
    cronjobs: { spec: { schedule: '*/5 * * * *', timeZone: 'Europe/Zurich', jobTemplate: { spec: job } } },
    configmaps: { data: { a: 'b' }, binaryData: { c: 'AAAA' } },
    secrets: { type: 'Opaque', data: { a: 'Yg==' }, stringData: { c: 'd' } },
    services: {
      spec: {
        selector: labels,
        ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
        type: 'ClusterIP',
      },
    },
    endpoints: { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] },
    endpointslices: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] },
    events: {
      involvedObject: { kind: 'Pod', name: 'a', namespace: 'fuzz' },
      reason: 'R',
      message: 'm',
      type: 'Normal',
    },
    limitranges: { spec: { limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '500m' } }] } },
    resourcequotas: { spec: { hard: { pods: '1000' } } },
    nodes: {
      spec: { podCIDR: '10.0.0.0/24', taints: [{ key: 'a', effect: 'NoSchedule' }] },
      status: { capacity: { cpu: '1' } },
    },
    persistentvolumes: {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/tmp' },
        storageClassName: 'x',
      },
    },
    persistentvolumeclaims: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    storageclasses: { provisioner: 'example.com/p' },
    ingresses: {
      spec: {
        rules: [
          {
            host: 'a.example.com',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    ingressclasses: { spec: { controller: 'example.com/c' } },
    networkpolicies: { spec: { podSelector: selector, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }] } },
    horizontalpodautoscalers: {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
        minReplicas: 1,
        maxReplicas: 3,
      },
    },
    poddisruptionbudgets: { spec: { minAvailable: 1, selector } },
    roles: { rules },
    clusterroles: { rules, aggregationRule: { clusterRoleSelectors: [selector] } },
    rolebindings: { roleRef, subjects: [{ kind: 'User', name: 'u', apiGroup: roleRef.apiGroup }] },
    clusterrolebindings: { roleRef, subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'fuzz' }] },
    leases: { spec: { holderIdentity: 'h', leaseDurationSeconds: 5, renewTime: '2020-01-01T00:00:00.000000Z' } },
    priorityclasses: { value: 7 },
    runtimeclasses: { handler: 'h' },
    certificatesigningrequests: {
      spec: { request: CERTIFICATE_REQUEST, signerName: 'example.com/s', usages: ['client auth'] },
    },
    flowschemas: { spec: { priorityLevelConfiguration: { name: 'x' }, matchingPrecedence: 9 } },
    prioritylevelconfigurations: {
      spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
    },
    csidrivers: { spec: {} },
    csinodes: { spec: { drivers: [{ name: 'd', nodeID: 'n' }] } },
    csistoragecapacities: { storageClassName: 'x', capacity: '1Gi' },
    volumeattachments: { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
    validatingwebhookconfigurations: { webhooks: [webhook] },
    mutatingwebhookconfigurations: { webhooks: [webhook] },
    validatingadmissionpolicies: {
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['none.example.com'], apiVersions: ['v1'], resources: ['nothings'], operations: ['*'] },
          ],
        },
        validations: [{ expression: 'object.metadata.name != "x"' }],
      },
    },
    validatingadmissionpolicybindings: { spec: { policyName: 'p', validationActions: ['Deny'] } },
    customresourcedefinitions: {
      spec: {
        group: 'toys.example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: widget },
            additionalPrinterColumns: [{ name: 'N', type: 'integer', jsonPath: '.spec.n' }],
            selectableFields: [{ jsonPath: '.spec.s' }],
            subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
          },
        ],
      },
    },
    widgets: {
      spec: {
        n: 1,
        s: 'aab',
        either: '5%',
        free: { a: [1, { b: null }] },
        map: { a: 'b' },
        list: [{ k: 'a', v: 1.5 }],
      },
    },
    tokenreviews: { spec: { token: 't', audiences: ['a'] } },
    subjectaccessreviews: { spec: { user: 'u', groups: ['g'], resourceAttributes: { verb: 'get', resource: 'pods' } } },
    selfsubjectaccessreviews: { spec: { nonResourceAttributes: { path: '/x', verb: 'get' } } },
    localsubjectaccessreviews: {
      spec: { user: 'u', resourceAttributes: { namespace: 'fuzz', verb: 'get', resource: 'pods' } },
    },
    selfsubjectrulesreviews: { spec: { namespace: 'fuzz' } },
    bindings: { target: { kind: 'Node', name: 'a' } },
    'serviceaccounts/token': { spec: { audiences: ['a'], expirationSeconds: 3600 } },
    'pods/eviction': { deleteOptions: { gracePeriodSeconds: 0 } },
    'pods/binding': { target: { kind: 'Node', name: 'a' } },
    '*/scale': { spec: { replicas: 2 } },
  }),
);
