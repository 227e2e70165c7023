import { type Frozen, type Informer, notFound } from '../../../../core/api/index.js';
import type { TokenRequest } from '../../../../kinds/authentication/v1.js';
import type { Pod } from '../../../../kinds/v1.js';
import { forbid, type Restriction } from './forbid.js';

/** Tokens that are bound to a pod of the node. */
export function restrictToken(pods: Informer): Restriction {
  return restricted => {
    const { change, object, node } = restricted;
    const { subresource, namespace } = change.target;
    if (change.operation !== 'CREATE' || subresource !== 'token') return;
    const { kind, apiVersion, name, uid } = (object as Frozen<TokenRequest>).spec.boundObjectRef ?? {};
    if (kind !== 'Pod' || apiVersion !== 'v1' || !name) forbid(restricted, 'node requested token not bound to a pod');
    if (!uid) forbid(restricted, 'node requested token with a pod binding without a uid');
    const pod = pods.get(namespace, name);
    if (!pod) throw notFound({ group: '', resource: 'pod' }, name);
    if (pod.metadata.uid !== uid)
      forbid(
        restricted,
        `the UID in the bound object reference (${uid}) does not match the UID in record. ` +
          'The object might have been deleted and then recreated',
      );
    if ((pod as Frozen<Pod>).spec.nodeName !== node)
      forbid(restricted, 'node requested token bound to a pod scheduled on a different node');
  };
}
