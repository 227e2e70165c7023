import { describe, expect, it } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { openApiDocuments } from '../../core/services/openapi/index.js';
import { buildRegistry } from '../../core/schema/registry/registry.js';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, { readonly content: object }>>;
  readonly 'x-kubernetes-action': string;
}
type PathItem = Readonly<Record<string, Operation>> & { readonly parameters: readonly { readonly name: string }[] };

const naming = namingOf('kubernetes');
const documents = openApiDocuments(buildRegistry({ naming, strategies: () => undefined, generation: 1 }), naming);
const { paths } = JSON.parse(
  Buffer.from(documents.answer('/openapi/v3/api/v1', undefined, undefined, undefined)!.bytes).toString(),
) as { paths: Readonly<Record<string, PathItem>> };
const item = (path: string): PathItem => paths[`/api/v1${path}`]!;
const namesOf = (parameters: PathItem['parameters'] | undefined): string[] =>
  (parameters ?? []).map(({ name }) => name);

describe('operations in documents', () => {
  it('share parameters through their path, in alphabetical order', () => {
    const { parameters, get, post } = item('/namespaces/{namespace}/configmaps') as PathItem & {
      get: Operation;
      post: Operation;
    };
    expect(namesOf(parameters)).toEqual(['namespace', 'pretty']);
    expect(namesOf(post.parameters)).toEqual(['dryRun', 'fieldManager', 'fieldValidation']);
    expect(namesOf(get.parameters)).toEqual([...namesOf(get.parameters)].sort());
    const binding = item('/namespaces/{namespace}/pods/{name}/binding');
    expect(namesOf(binding.parameters)).toEqual([
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'name',
      'namespace',
      'pretty',
    ]);
    expect(binding.post!.parameters).toBeUndefined();
  });

  it('are named by verb, group version and object', () => {
    expect(item('/namespaces/{namespace}/pods').delete!.operationId).toBe('deleteCoreV1CollectionNamespacedPod');
    expect(item('/namespaces/{namespace}/pods/{name}').delete!.operationId).toBe('deleteCoreV1NamespacedPod');
    expect(item('/pods').get!.operationId).toBe('listCoreV1PodForAllNamespaces');
    const exec = item('/namespaces/{namespace}/pods/{name}/exec');
    expect(exec.get!.operationId).toBe('connectCoreV1GetNamespacedPodExec');
    expect(item('/nodes/{name}/proxy/{path}').put!.operationId).toBe('connectCoreV1PutNodeProxyWithPath');
  });

  it('include the deprecated paths of watches', () => {
    const names = ['/watch/pods', '/watch/namespaces/{namespace}/pods', '/watch/namespaces/{namespace}/pods/{name}'];
    expect(names.map(name => item(name).get!.operationId)).toEqual([
      'watchCoreV1PodListForAllNamespaces',
      'watchCoreV1NamespacedPodList',
      'watchCoreV1NamespacedPod',
    ]);
    expect(names.map(name => item(name).get!['x-kubernetes-action'])).toEqual(['watchlist', 'watchlist', 'watch']);
    expect(Object.keys(paths).filter(path => path.includes('/watch/') && path.includes('bindings'))).toEqual([]);
  });

  it('have the media types of logs and of connections', () => {
    const pod = '/namespaces/{namespace}/pods/{name}';
    expect(Object.keys(item(`${pod}/log`).get!.responses[200]!.content)).toContain('text/plain');
    expect(Object.keys(item(`${pod}/attach`).get!.responses[200]!.content)).toEqual(['*/*']);
  });
});
