import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configMap, deployment } from '../clients/manifests.js';
import { type BuiltServer, hasKubectl, Kubectl, startMemoryServer } from '../clients/server.js';

const able = await hasKubectl();

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: { readonly [name: string]: object };
}

describe.skipIf(!able)('kubectl', () => {
  let server: BuiltServer;
  let k: Kubectl;
  beforeAll(async () => {
    server = await startMemoryServer();
    k = new Kubectl(server, 'ssa');
    await k.with({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ssa' } }, 'create');
  });
  afterAll(() => server?.close());

  const entries = async (kind: string, name: string): Promise<Entry[]> => {
    const { metadata } = (await k.json('get', kind, name, '--show-managed-fields')) as {
      metadata: { managedFields: Entry[] };
    };
    return metadata.managedFields;
  };
  const managers = async (kind: string, name: string): Promise<string[]> =>
    (await entries(kind, name))
      .map(({ manager, operation, subresource }) => [manager, operation, subresource].filter(Boolean).join(' '))
      .sort();

  test('apply --server-side creates, leaves unchanged, changes, and reports it', async () => {
    const apply = (object: object, ...args: string[]): Promise<string> =>
      k.with(object, 'apply', '--server-side', ...args);
    expect(await apply(deployment('web', 2))).toBe('deployment.apps/web serverside-applied\n');
    const before = await k.run('get', 'deployment', 'web', '-o', 'jsonpath={.metadata.resourceVersion}');
    expect(await apply(deployment('web', 2))).toBe('deployment.apps/web serverside-applied\n');
    expect(await k.run('get', 'deployment', 'web', '-o', 'jsonpath={.metadata.resourceVersion}')).toBe(before);
    expect(await apply(deployment('web', 3), '--dry-run=server')).toContain('serverside-applied (server dry run)');
    expect(await managers('deployment', 'web')).toEqual(['kubectl Apply']);
  });

  test('apply --server-side reports conflicts, --force-conflicts takes over the fields', async () => {
    const apply = (replicas: number, ...args: string[]) =>
      k.try(['apply', '--server-side', '-f', '-', ...args], { input: JSON.stringify(deployment('fought', replicas)) });
    await apply(1);
    await k.run('scale', 'deployment', 'fought', '--replicas=4');
    const { code, err } = await apply(2, '--field-manager=other');
    expect(code).toBe(1);
    expect(err).toContain(
      'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas',
    );
    expect((await apply(2, '--field-manager=other', '--force-conflicts')).code).toBe(0);
    expect(await managers('deployment', 'fought')).toEqual(['kubectl Apply', 'other Apply']);
  });

  test('objects applied on the client side are taken over without conflict', async () => {
    await k.with(configMap('moved', { a: '1', b: '1' }), 'apply');
    expect(await managers('configmap', 'moved')).toEqual(['kubectl-client-side-apply Update']);
    expect(await k.with(configMap('moved', { a: '2' }), 'apply', '--server-side')).toBe(
      'configmap/moved serverside-applied\n',
    );
    const moved = (await k.json('get', 'configmap', 'moved')) as {
      data: object;
      metadata: { annotations: { [name: string]: string } };
    };
    expect(moved.data).toEqual({ a: '2' });
    const last = JSON.parse(moved.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']!) as {
      data: object;
    };
    expect(last.data).toEqual({ a: '2' });
    expect((await managers('configmap', 'moved'))[0]).toBe('kubectl Apply');
    expect(await k.with(configMap('moved', { a: '3' }), 'apply')).toContain('configmap/moved configured');
  });

  test('get hides managers by default; edit and label have their own entries', async () => {
    await k.with(configMap('hidden'), 'create');
    await k.run('label', 'configmap', 'hidden', 'team=a');
    expect(await k.run('get', 'configmap', 'hidden', '-o', 'yaml')).not.toContain('managedFields');
    expect(await k.run('get', 'configmap', 'hidden', '-o', 'yaml', '--show-managed-fields')).toContain('f:team: {}');
    expect(await managers('configmap', 'hidden')).toEqual(['kubectl-create Update', 'kubectl-label Update']);
    expect(await k.run('get', 'configmap', 'hidden')).toMatch(/^NAME +DATA +AGE\nhidden +1 +\d+s\n$/);
  });

  test('apply --server-side of the status does not change anything else', async () => {
    await k.with(deployment('status', 1), 'apply', '--server-side');
    const status = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'status' },
      status: { observedGeneration: 1, replicas: 1 },
    };
    await k.with(status, 'apply', '--server-side', '--subresource=status', '--field-manager=controller');
    expect(await managers('deployment', 'status')).toEqual(['controller Apply status', 'kubectl Apply']);
  });
});
