import { secretKey } from './secretKey.js';
import {
  AGE,
  atomic,
  column,
  conditions,
  definition,
  type Definition,
  flag,
  int32,
  int64,
  keyed,
  kindShape,
  list,
  mapOf,
  object,
  oneOf,
  type Shape,
  text,
  version,
} from './shapes.js';

/* The definition of issuers: large, because of the pods and the providers that they can use. */

const GROUP = 'cert-manager.io';

const selector = (): Shape =>
  object(
    'Which pods are meant.',
    {
      matchExpressions: atomic(
        object(
          'A condition of labels.',
          {
            key: text('The label.'),
            operator: text('How the values are compared.'),
            values: atomic({ type: 'string' }, 'The values.'),
          },
          { required: ['key', 'operator'] },
        ),
        'Conditions that all hold.',
      ),
      matchLabels: mapOf({ type: 'string' }, 'Labels with their values.'),
    },
    { 'x-kubernetes-map-type': 'atomic' },
  );

const nodeTerm = (): Shape => {
  const expressions = atomic(
    object(
      'A condition of a node.',
      {
        key: text('What is compared.'),
        operator: text('How it is compared.'),
        values: atomic({ type: 'string' }, 'With what.'),
      },
      { required: ['key', 'operator'] },
    ),
    'Conditions that all hold.',
  );
  return object(
    'Conditions of nodes.',
    { matchExpressions: expressions, matchFields: expressions },
    { 'x-kubernetes-map-type': 'atomic' },
  );
};

const podTerm = (): Shape =>
  object(
    'Pods near which to run.',
    {
      labelSelector: selector(),
      matchLabelKeys: atomic({ type: 'string' }, 'Labels whose values are those of the pod.'),
      mismatchLabelKeys: atomic({ type: 'string' }, 'Labels whose values are not those of the pod.'),
      namespaceSelector: selector(),
      namespaces: atomic({ type: 'string' }, 'Namespaces of these pods.'),
      topologyKey: text('The label of nodes that says what is near.'),
    },
    { required: ['topologyKey'] },
  );

const podAffinity = (about: string): Shape =>
  object(about, {
    preferredDuringSchedulingIgnoredDuringExecution: atomic(
      object(
        'A wish with its weight.',
        { podAffinityTerm: podTerm(), weight: int32('Its weight.') },
        { required: ['podAffinityTerm', 'weight'] },
      ),
      'Wishes.',
    ),
    requiredDuringSchedulingIgnoredDuringExecution: atomic(podTerm(), 'Conditions.'),
  });

const podTemplate = (): Shape =>
  object('How pods of a solver look.', {
    metadata: object('Their metadata.', {
      annotations: mapOf({ type: 'string' }, 'Annotations.'),
      labels: mapOf({ type: 'string' }, 'Labels.'),
    }),
    spec: object('Their specification.', {
      affinity: object('Where they run.', {
        nodeAffinity: object('By nodes.', {
          preferredDuringSchedulingIgnoredDuringExecution: atomic(
            object(
              'A wish with its weight.',
              { preference: nodeTerm(), weight: int32('Its weight.') },
              { required: ['preference', 'weight'] },
            ),
            'Wishes.',
          ),
          requiredDuringSchedulingIgnoredDuringExecution: object(
            'Conditions.',
            { nodeSelectorTerms: atomic(nodeTerm(), 'One of these holds.') },
            { required: ['nodeSelectorTerms'], 'x-kubernetes-map-type': 'atomic' },
          ),
        }),
        podAffinity: podAffinity('Near to other pods.'),
        podAntiAffinity: podAffinity('Away from other pods.'),
      }),
      imagePullSecrets: keyed(
        ['name'],
        object('A Secret.', { name: text('Its name.', { default: '' }) }, { 'x-kubernetes-map-type': 'atomic' }),
        'Secrets for images.',
      ),
      nodeSelector: mapOf({ type: 'string' }, 'Labels of nodes.'),
      priorityClassName: text('Priority class.'),
      securityContext: object('Rights of the pods.', {
        fsGroup: int64('Group of volumes.'),
        runAsUser: int64('User of processes.'),
        runAsGroup: int64('Group of processes.'),
        runAsNonRoot: flag('Whether root is refused.'),
        supplementalGroups: list({ type: 'integer', format: 'int64' }, 'More groups.'),
        sysctls: list(
          object(
            'A kernel parameter.',
            { name: text('Name.'), value: text('Value.') },
            { required: ['name', 'value'] },
          ),
          'Kernel parameters.',
        ),
      }),
      serviceAccountName: text('Service account.'),
      tolerations: atomic(
        object('A taint that is tolerated.', {
          effect: text('Effect of the taint.'),
          key: text('Key of the taint.'),
          operator: text('How the value is compared.'),
          tolerationSeconds: int64('For how long.'),
          value: text('Value of the taint.'),
        }),
        'Tolerated taints.',
      ),
    }),
  });

/** A DNS provider of a solver, whose members are strings and references to Secrets. */
const provider = (name: string, texts: readonly string[], secrets: readonly string[]): Shape =>
  object(
    `Records are written by ${name}.`,
    Object.fromEntries([
      ...texts.map(member => [member, text(`The ${member} of ${name}.`)] as const),
      ...secrets.map(member => [member, secretKey(`Where the ${member} of ${name} is.`)] as const),
    ]),
    { required: texts.slice(0, 1) },
  );

const dns01 = (): Shape =>
  object('By a DNS record.', {
    acmeDNS: provider('ACME DNS', ['host'], ['accountSecretRef']),
    akamai: provider('Akamai', ['serviceConsumerDomain'], ['clientSecretSecretRef', 'clientTokenSecretRef']),
    azureDNS: provider(
      'Azure',
      ['resourceGroupName', 'subscriptionID', 'clientID', 'hostedZoneName', 'tenantID'],
      ['clientSecretSecretRef'],
    ),
    cloudDNS: provider('Cloud DNS', ['project', 'hostedZoneName'], ['serviceAccountSecretRef']),
    cloudflare: provider('Cloudflare', ['email'], ['apiKeySecretRef', 'apiTokenSecretRef']),
    cnameStrategy: oneOf('Whether CNAMEs are followed.', ['None', 'Follow']),
    rfc2136: provider('RFC 2136', ['nameserver', 'tsigAlgorithm', 'tsigKeyName'], ['tsigSecretSecretRef']),
    route53: provider('Route 53', ['region', 'role', 'hostedZoneID'], ['secretAccessKeySecretRef']),
    webhook: object(
      'Records are written by a webhook.',
      {
        config: { description: 'Anything that it understands.', 'x-kubernetes-preserve-unknown-fields': true },
        groupName: text('Its group.'),
        solverName: text('Its name.'),
      },
      { required: ['groupName', 'solverName'] },
    ),
  });

const parentRefs = list(
  object(
    'A gateway.',
    {
      group: text('Group.', { default: 'gateway.networking.k8s.io', maxLength: 253 }),
      kind: text('Kind.', { default: 'Gateway', maxLength: 63, minLength: 1 }),
      name: text('Name.', { maxLength: 253, minLength: 1 }),
      namespace: text('Namespace.', { maxLength: 63, minLength: 1 }),
      port: int32('Port.', { maximum: 65_535, minimum: 1 }),
    },
    { required: ['name'] },
  ),
  'Gateways of the route.',
);

const issuerSpec = (): Shape =>
  object('How certificates are made.', {
    acme: object(
      'By an ACME server.',
      {
        server: text('Its URL.'),
        email: text('Contact of the account.'),
        caBundle: text('Who signs for the server.', { format: 'byte' }),
        skipTLSVerify: flag('Whether its certificate is not checked.'),
        preferredChain: text('The preferred chain.', { maxLength: 64 }),
        privateKeySecretRef: secretKey('Key of the account.'),
        externalAccountBinding: object(
          'Account elsewhere.',
          { keyID: text('Its key.'), keySecretRef: secretKey('Where the key is.') },
          { required: ['keyID', 'keySecretRef'] },
        ),
        solvers: list(
          object('How a name is proved.', {
            dns01: dns01(),
            http01: object('By HTTP.', {
              gatewayHTTPRoute: object('By a route.', {
                labels: mapOf({ type: 'string' }, 'Labels of the route.'),
                parentRefs,
                podTemplate: podTemplate(),
                serviceType: text('Type of the Service.'),
              }),
              ingress: object('By an Ingress.', {
                class: text('Class of the Ingress.'),
                ingressClassName: text('Class of the Ingress, by name.'),
                name: text('Name of the Ingress.'),
                podTemplate: podTemplate(),
                serviceType: text('Type of the Service.'),
              }),
            }),
            selector: object('For which names.', {
              dnsNames: list({ type: 'string' }, 'Names.'),
              dnsZones: list({ type: 'string' }, 'Zones.'),
              matchLabels: mapOf({ type: 'string' }, 'Labels of the certificate.'),
            }),
          }),
          'Ways to prove a name.',
        ),
      },
      { required: ['privateKeySecretRef', 'server'] },
    ),
    ca: object(
      'By a key in a Secret.',
      {
        secretName: text('The Secret.'),
        crlDistributionPoints: list({ type: 'string' }, 'Lists of revoked certificates.'),
        ocspServers: list({ type: 'string' }, 'Servers that know what is revoked.'),
      },
      { required: ['secretName'] },
    ),
    selfSigned: object('By themselves.', { crlDistributionPoints: list({ type: 'string' }, 'Lists.') }),
    vault: object(
      'By a Vault.',
      {
        server: text('Its URL.'),
        path: text('Its path.'),
        namespace: text('Its namespace.'),
        caBundle: text('Who signs for it.', { format: 'byte' }),
        auth: object('How to log in.', {
          tokenSecretRef: secretKey('With a token.'),
          appRole: provider('a role', ['path', 'roleId'], ['secretRef']),
          kubernetes: provider('an account', ['role', 'mountPath'], ['secretRef']),
        }),
      },
      { required: ['auth', 'path', 'server'] },
    ),
  });

/** Issuers of a namespace, or of the cluster. */
export const issuer = (kind: 'Issuer' | 'ClusterIssuer'): Definition =>
  definition(
    GROUP,
    kind,
    { plural: `${kind.toLowerCase()}s`, categories: ['cert-manager'] },
    kind === 'Issuer' ? 'Namespaced' : 'Cluster',
    [
      version(
        'v1',
        kindShape(
          'Makes certificates.',
          {
            spec: issuerSpec(),
            status: object('What was reached.', {
              acme: object('The account.', { uri: text('Its URI.'), lastRegisteredEmail: text('Its contact.') }),
              conditions: conditions({ maxItems: 20 }),
            }),
          },
          { required: ['spec'] },
        ),
        {
          additionalPrinterColumns: [
            column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
            column('Status', 'string', '.status.conditions[?(@.type=="Ready")].message', { priority: 1 }),
            AGE,
          ],
        },
      ),
    ],
  );
