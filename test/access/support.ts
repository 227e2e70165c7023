import type { ApiObject, Contributed, Informer, Received, ResourceTarget, User } from '../../core/api/index.js';

/** An informer over a list that a test can change. */
export class ListInformer implements Informer {
  revision = 1;
  constructor(private objects: ApiObject[] = []) {}
  get(namespace: string, name: string): ApiObject | undefined {
    return this.objects.find(o => (o.metadata.namespace ?? '') === namespace && o.metadata.name === name);
  }
  list(namespace?: string): readonly ApiObject[] {
    return namespace === undefined ? this.objects : this.objects.filter(o => o.metadata.namespace === namespace);
  }
  put(...objects: ApiObject[]): void {
    this.objects = [...this.objects, ...objects];
    this.revision++;
  }
  remove(name: string): void {
    this.objects = this.objects.filter(o => o.metadata.name !== name);
    this.revision++;
  }
}

/** A user with only a name and groups. */
export const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: new Map() });

/** A resource request; omitted attributes are empty. */
export const target = (members: Partial<ResourceTarget>): ResourceTarget => ({
  is: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: '',
  name: '',
  path: '',
  ...members,
});

/** A request with these headers. */
export const received = (headers: Record<string, string> = {}, certificate?: string): Received => ({
  header: name => headers[name],
  headers: () => Object.entries(headers),
  remoteAddress: '127.0.0.1',
  path: '/',
  warn: () => {},
  ...(certificate ? { certificate } : {}),
});

/** A value as extension points receive it, of a plugin whose calls are neither limited nor counted. */
export const contributed = <T>(value: T, plugin = 'x'): Contributed<T> => ({
  plugin,
  value,
  failurePolicy: 'Fail',
  call: operation => operation(),
});
