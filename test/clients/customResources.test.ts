import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BuiltServer, hasKubectl, Kubectl, startMemoryServer } from './server.js';

const able = await hasKubectl();

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab, shortNames: [ct], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What to run.
            properties:
              cron: {type: string, description: When to run., pattern: '^[^ ]+( [^ ]+){4}$'}
              replicas: {type: integer, minimum: 1, maximum: 10, default: 1}
          status: {type: object, properties: {replicas: {type: integer}}}
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Cron, type: string, jsonPath: .spec.cron}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
`;
const object = (cron: string): string => `
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: mine}
spec: {cron: "${cron}"}
`;

describe.skipIf(!able)('kubectl and custom resources', () => {
  let server: BuiltServer;
  let k: Kubectl;
  beforeAll(async () => {
    server = await startMemoryServer();
    k = new Kubectl(server, 'clients');
    await k.with({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'clients' } }, 'create');
    await k.with(definition, 'apply');
    // A new definition has no list of conditions yet, and `--for=condition` fails on that: so wait for its accepted
    // names first.
    await k.run('wait', '--for=jsonpath={.status.acceptedNames.kind}=CronTab', 'crd/crontabs.stable.example.com');
    await k.run('wait', '--for=condition=Established', 'crd/crontabs.stable.example.com');
  });
  afterAll(() => server?.close());

  test('apply, get by short name and category, scale, explain', async () => {
    expect(await k.with(object('* * * * */5'), 'apply')).toContain('crontab.stable.example.com/mine created');
    expect(await k.run('get', 'ct')).toMatch(/NAME\s+CRON\s+REPLICAS\nmine\s+\* \* \* \* \*\/5\s+1\n/);
    expect((await k.run('scale', 'ct/mine', '--replicas=3')).trim()).toBe('crontab.stable.example.com/mine scaled');
    expect(await k.run('get', 'all')).toMatch(/crontab.stable.example.com\/mine\s+\S.*\s3\n/);
    const explained = await k.run('explain', 'crontab.spec');
    expect(explained).toContain('What to run.');
    expect(explained).toMatch(/cron\s+<string>\n\s+When to run\./);
  });

  test('an object that violates the schema is refused with all violations', async () => {
    const refused = await k.try(['apply', '-f', '-'], { input: object('never') });
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("spec.cron in body should match '^[^ ]+( [^ ]+){4}$'");
  });

  test('server-side apply takes over fields with --force-conflicts', async () => {
    await k.with(object('1 * * * *'), 'apply', '--server-side', '--force-conflicts');
    expect(await k.run('get', 'ct', 'mine', '-o', 'jsonpath={.spec.cron}')).toBe('1 * * * *');
  });
});
