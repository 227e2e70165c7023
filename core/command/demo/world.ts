import type { Naming } from '../../naming.js';

/** The group of the kind that the demonstration defines. */
export const DEMO_GROUP = 'demo.example.com';
/** The label of all objects that the demonstration creates, by which it recognizes them. */
export const DEMO_LABEL = `${DEMO_GROUP}/part-of`;
/** The value of that label. */
export const DEMO_VALUE = 'capstan-demo';
const LABELS = { [DEMO_LABEL]: DEMO_VALUE };
/** The label with the name of an app. */
const APP = 'app';

/** A team with its namespace, a member, its apps and its website. */
export interface Team {
  readonly name: string;
  readonly namespace: string;
  readonly group: string;
  /** A user of the group, who sends the traffic. */
  readonly member: string;
  readonly apps: readonly { readonly name: string; readonly version: string; readonly replicas: number }[];
  readonly website: { readonly name: string; readonly host: string };
}

const teamOf = (name: string, member: string, apps: Team['apps'], website: string): Team => ({
  name,
  namespace: `demo-${name}`,
  group: `${name}-developers`,
  member,
  apps,
  website: { name: website, host: `${website}.example.com` },
});
const STOREFRONT = [
  { name: 'catalog', version: '2.4.1', replicas: 3 },
  { name: 'search', version: '1.9.0', replicas: 2 },
];
const PAYMENTS = [
  { name: 'checkout', version: '5.0.2', replicas: 2 },
  { name: 'ledger', version: '3.3.7', replicas: 1 },
];

/** The two teams. */
export const TEAMS: readonly Team[] = [
  teamOf('storefront', 'ada', STOREFRONT, 'shop'),
  teamOf('payments', 'ben', PAYMENTS, 'status'),
];

const image = (name: string, version: string): string => `registry.example.com/${name}:${version}`;

/** The namespace of a team, its budget, and the permissions of its members. */
export function teamObjects({ namespace, name, group }: Team, naming: Naming): object[] {
  const rbac = naming.apiVersion('rbac.authorization.orchestrator.io/v1');
  const rbacGroup = naming.group('rbac.authorization.orchestrator.io');
  const metadata = { namespace, name: 'team', labels: LABELS };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { ...LABELS, team: name } } },
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { 'count/deployments.apps': '10' } } },
    {
      apiVersion: rbac,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: ['', 'apps', DEMO_GROUP], resources: ['*'], verbs: ['*'] }],
    },
    {
      apiVersion: rbac,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: 'team' },
      subjects: [{ apiGroup: rbacGroup, kind: 'Group', name: group }],
    },
  ];
}

/** A Deployment; `owner` is the reference to the object for which it is created. */
export function deployment(
  { namespace, name, image: used, replicas }: { namespace: string; name: string; image: string; replicas: number },
  owner?: object,
): object {
  const labels = { ...LABELS, [APP]: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name, labels, ...(owner && { ownerReferences: [owner] }) },
    spec: {
      replicas,
      selector: { matchLabels: { [APP]: name } },
      template: {
        metadata: { labels },
        spec: { containers: [{ name, image: used, ports: [{ containerPort: 8080 }] }] },
      },
    },
  };
}

/** A Service for the pods of an app. */
export const service = (namespace: string, name: string, owner?: object): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name, labels: { ...LABELS, [APP]: name }, ...(owner && { ownerReferences: [owner] }) },
  spec: { selector: { [APP]: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
});

/** The apps of a team with their settings. */
export const appObjects = ({ namespace, apps }: Team): object[] =>
  apps.flatMap(({ name, version, replicas }) => [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name, labels: { ...LABELS, [APP]: name } },
      data: { logLevel: 'info', version },
    },
    deployment({ namespace, name, image: image(name, version), replicas }),
    service(namespace, name),
  ]);

/** The definition of the kind Website. */
export const websiteDefinition = (naming: Naming): object => ({
  apiVersion: naming.apiVersion('apiextensions.orchestrator.io/v1'),
  kind: 'CustomResourceDefinition',
  metadata: { name: `websites.${DEMO_GROUP}`, labels: LABELS },
  spec: {
    group: DEMO_GROUP,
    scope: 'Namespaced',
    names: { kind: 'Website', plural: 'websites', singular: 'website', shortNames: ['web'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Host', type: 'string', jsonPath: '.spec.host' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
        ],
        schema: { openAPIV3Schema: WEBSITE_SCHEMA },
      },
    ],
  },
});

const WEBSITE_SCHEMA = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['host', 'image'],
      properties: {
        host: { type: 'string', minLength: 1 },
        image: { type: 'string', minLength: 1 },
        replicas: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
      },
    },
    status: {
      type: 'object',
      properties: { phase: { type: 'string' }, replicas: { type: 'integer' } },
    },
  },
};

/** The website of a team. */
export const websiteObject = ({ namespace, website: { name, host } }: Team): object => ({
  apiVersion: `${DEMO_GROUP}/v1`,
  kind: 'Website',
  metadata: { namespace, name, labels: LABELS },
  spec: { host, image: image(name, '1.0.0'), replicas: 2 },
});

const POLICY = 'demo-images-have-versions';

/** A policy that refuses Deployments whose images have no version, in the namespaces of the teams. */
export function policyObjects(naming: Naming): object[] {
  const apiVersion = naming.apiVersion('admissionregistration.orchestrator.io/v1');
  const metadata = { name: POLICY, labels: LABELS };
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
          ],
        },
        validations: [
          {
            expression:
              "object.spec.template.spec.containers.all(c, c.image.matches(':[^:/]+$') && !c.image.endsWith(':latest'))",
            message: 'each image needs a version, such as :1.2.3, and not :latest',
          },
        ],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: POLICY,
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: { matchLabels: LABELS } },
      },
    },
  ];
}

/** A Deployment that the policy refuses. */
export const refusedDeployment = ({ namespace }: Team): object =>
  deployment({ namespace, name: 'prototype', image: image('prototype', 'latest'), replicas: 1 });
