import {
  type ApiObject,
  type Change,
  definePlugin,
  type Host,
  type Match,
  type Mutator,
  mutator,
  type Plugin,
  type Validator,
  validator,
} from '../../../../core/api/index.js';
import { nodeNameOf } from '../authorize.js';
import { CERTIFICATES, restrictRequest } from './certificates.js';
import { forbid, type Restricted, type Restriction } from './forbid.js';
import { restrictNode } from './nodes.js';
import { restrictClaimStatus, restrictCsiNode, restrictLease, restrictSlice } from './otherKinds.js';
import { restrictPod } from './pods.js';
import { restrictToken } from './tokens.js';

const COORDINATION = 'coordination.orchestrator.io';
const STORAGE = 'storage.orchestrator.io';
const RESOURCE = 'resource.orchestrator.io';

/** The kinds that nodes can write, with subresources; writes to any other kind are left to authorization. */
const KINDS = {
  groups: ['', CERTIFICATES, COORDINATION, STORAGE, RESOURCE],
  resources: [
    'nodes',
    'pods',
    'persistentvolumeclaims',
    'serviceaccounts',
    'certificatesigningrequests',
    'leases',
    'csinodes',
    'resourceslices',
  ],
} satisfies Match;
const SUBRESOURCES = ['', 'status', 'eviction', 'binding', 'ephemeralcontainers', 'resize', 'token'];

function restrictionsOf(host: Host<'pool'>): ReadonlyMap<string, Restriction> {
  const pods = host.informer('core/pods');
  const nodes = host.informer('core/nodes');
  const restrictions = new Map<string, Restriction>([
    ['/nodes', restrictNode(host.naming)],
    ['/pods', restrictPod(host.naming, nodes, pods)],
    ['/persistentvolumeclaims', restrictClaimStatus],
    ['/serviceaccounts', restrictToken(pods)],
    [`${COORDINATION}/leases`, restrictLease(host.naming.component('orchestrator-node-lease'))],
    [`${STORAGE}/csinodes`, restrictCsiNode],
    [`${RESOURCE}/resourceslices`, restrictSlice],
  ]);
  if (host.isEnabled('AllowInsecureKubeletCertificateSigningRequests')) return restrictions;
  return restrictions.set(`${CERTIFICATES}/certificatesigningrequests`, restrictRequest(host.naming));
}

/** Throws 403 for a change that a node may not make. Other users are not restricted. */
function restrictionBy(host: Host<'pool'>) {
  const restrictions = restrictionsOf(host);
  return async (change: Change, object: Restricted['object']): Promise<void> => {
    const node = nodeNameOf(change.user);
    const { group, resource } = change.target;
    const restrict = node === undefined ? undefined : restrictions.get(`${group}/${resource}`);
    if (node !== undefined && restrict) await restrict({ change, object, node, group: host.naming.group(group) });
  };
}

/** Throws 403 for any change by a node without a name: nothing can be its own. */
const refuseNameless =
  ({ naming }: Host<'pool'>) =>
  (change: Change, object: Restricted['object']): void => {
    const { user, target } = change;
    if (nodeNameOf(user) !== '') return;
    const restricted = { change, object, node: '', group: naming.group(target.group) };
    forbid(restricted, `could not determine node from user ${JSON.stringify(user.name)}`);
  };

const ALL = { subresources: ['*'] } satisfies Match;

const ofNamelessWrites = (host: Host<'pool'>): Mutator => ({
  on: { ...ALL, operations: ['CREATE', 'UPDATE'] },
  mutate: refuseNameless(host),
});

const ofNamelessDeletions = (host: Host<'pool'>): Validator => ({
  on: { ...ALL, operations: ['DELETE'] },
  validate(change) {
    refuseNameless(host)(change, undefined);
    return [];
  },
});

/** Checked before other rules, so that nodes learn nothing about objects of others. */
function ofWrites(host: Host<'pool'>): Mutator {
  const restrict = restrictionBy(host);
  return {
    on: { ...KINDS, subresources: SUBRESOURCES, operations: ['CREATE', 'UPDATE'] },
    mutate: (change: Change, draft: ApiObject) => restrict(change, draft),
  };
}

/** Mutators do not see deletions. */
function ofDeletions(host: Host<'pool'>): Validator {
  const restrict = restrictionBy(host);
  return {
    on: { ...KINDS, operations: ['DELETE'] },
    validate: async change => {
      await restrict(change, undefined);
      return [];
    },
  };
}

/**
 * Restricts writes of nodes to their own node and pods (spec, "Node authorization"): the admission plugin
 * NodeRestriction.
 */
export default definePlugin({
  name: 'node-restriction',
  parse: () => null,
  contribute: () => [
    mutator.of(ofNamelessWrites),
    mutator.of(ofWrites),
    validator.of(ofNamelessDeletions),
    validator.of(ofDeletions),
  ],
}) satisfies Plugin<null>;
