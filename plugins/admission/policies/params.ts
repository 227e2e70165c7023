import type { ParamKind, ParamRef } from '../../../kinds/admissionregistration/v1.js';
import type { Host, LabeledInformer, StoredKind } from '../../../core/api/host.js';
import { requirementsOf } from '../../../core/model/selectors/labelSelector.js';
import type { ApiObject } from '../../../core/model/object.js';
import { labelMatcher, type Selector } from '../../../core/model/selectors/selector.js';

/** Thrown for parameters that a binding cannot be evaluated with. */
export class ParamsError extends Error {}

/** The kind of a policy's parameters. Throws ParamsError where it is not served. */
export function paramKindOf({ kinds }: Pick<Host<'pool'>, 'kinds'>, paramKind: ParamKind): StoredKind {
  const apiVersion = paramKind.apiVersion ?? '';
  const kind = paramKind.kind ?? '';
  const found = kinds.find(apiVersion, kind);
  if (!found) {
    const shown = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw new ParamsError(`failed to find resource referenced by paramKind: '${shown}, Kind=${kind}'`);
  }
  return found;
}

/**
 * The parameters of a binding for a request in a namespace; null stands for evaluation without parameters. Throws
 * ParamsError for a reference that does not fit the kind, and for parameters that are missing and required.
 */
export async function collectParams(
  host: Pick<Host<'pool'>, 'dynamicInformer'>,
  kind: StoredKind | undefined,
  paramRef: ParamRef | undefined,
  requestNamespace: string,
): Promise<readonly (ApiObject | null)[]> {
  if (!kind || !paramRef) return [null];
  const informer = await host.dynamicInformer(kind.storageName);
  const namespace = namespaceOf(kind, paramRef.namespace ?? '', requestNamespace);
  const name = paramRef.name ?? '';
  const selector = paramRef.selector;
  let found: readonly ApiObject[];
  if (name) {
    const one = informer.get(namespace, name);
    found = one ? [one] : [];
  } else {
    const requirements = requirementsOf(selector);
    const matches = labelMatcher(requirements);
    found = candidatesOf(informer, namespace, requirements).filter(({ metadata }) => matches(metadata.labels));
  }
  if (found.length > 0) return found.map(object => kind.read(object));
  if ((paramRef.parameterNotFoundAction ?? '') === 'Deny')
    throw new ParamsError('no params found for policy binding with `Deny` parameterNotFoundAction');
  return [];
}

/** The objects that a selector can select: those with a label where it demands one, in the order of their names. */
function candidatesOf(informer: LabeledInformer, namespace: string, requirements: Selector): readonly ApiObject[] {
  const exact = requirements.find(({ operator }) => operator === '=' || operator === 'in');
  if (!exact) return namespace ? informer.list(namespace) : informer.list();
  const values = [...new Set(exact.values)];
  const found = values.flatMap(value => informer.labeled(namespace, exact.key, value));
  return values.length > 1 ? found.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1)) : found;
}

/**
 * The namespace of the parameters: that of the reference, or else of the request. Throws ParamsError for a namespace
 * that the kind cannot have, or if none is given.
 */
function namespaceOf(kind: StoredKind, given: string, requestNamespace: string): string {
  if (!kind.namespaced) {
    if (given) throw new ParamsError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return '';
  }
  const namespace = given || requestNamespace;
  if (!namespace)
    throw new ParamsError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  return namespace;
}
