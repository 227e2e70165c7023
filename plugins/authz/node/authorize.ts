import {
  type Authorizer,
  type Decision,
  type Host,
  nameOf,
  type ResourceTarget,
  type Target,
  type User,
  type UserRules,
} from '../../../core/api/index.js';
import { allowsResource, type CompiledRules } from '../rbac/rules.js';
import type { NodeGraph } from './graph.js';

const PREFIX = 'system:node:';
const GROUP = 'system:nodes';

/** The name of the node that a user is: '' for one without a name, undefined for users that are not nodes. */
export const nodeNameOf = ({ name, groups }: User): string | undefined =>
  name.startsWith(PREFIX) && groups.includes(GROUP) ? name.slice(PREFIX.length) : undefined;

/** Whether the pods of a node use an object. */
type IsRelated = (node: string, namespace: string, name: string) => boolean;
/** The decision about a request of a node for one kind. */
type Rule = (node: string, target: ResourceTarget) => Decision;

// Neither changes while the server runs, unlike permissions that depend on the pods of a node.
const ALLOWED: Decision = { is: 'allow' };
const NO_OPINION: Decision = { is: 'noOpinion' };
const NO_RULES: UserRules = { resourceRules: [], pathRules: [] };
const because = (reason: string): Decision => ({ is: 'noOpinion', reason });

/** Allows a request if the object is related to the node. */
function ifRelated(isRelated: IsRelated, node: string, target: ResourceTarget): Decision {
  const name = nameOf(target);
  if (name === '') return because('No Object name found');
  if (isRelated(node, target.namespace, name)) return { is: 'allow', dependsOn: 'never' };
  return because(`no relationship found between node '${node}' and this object`);
}

/** Single reads of related objects. */
const getting =
  (isRelated: IsRelated): Rule =>
  (node, target) => {
    if (target.verb !== 'get') return because('can only get individual resources of this type');
    if (target.subresource !== '') return because('cannot get subresource');
    return ifRelated(isRelated, node, target);
  };

/** Reads of related objects, including lists and watches of one object. */
const reading =
  (isRelated: IsRelated): Rule =>
  (node, target) => {
    if (!['get', 'list', 'watch'].includes(target.verb)) return because('can only read resources of this type');
    if (target.subresource !== '') return because('cannot read subresource');
    if (target.namespace === '') return because('can only read namespaced object of this type');
    return ifRelated(isRelated, node, target);
  };

/** Single reads of related objects, and updates of their status. */
const readingAndReporting =
  (isRelated: IsRelated): Rule =>
  (node, target) => {
    if (target.subresource !== 'status') return getting(isRelated)(node, target);
    // Upstream's text: it names get, which is not allowed for the status either.
    if (!['update', 'patch'].includes(target.verb)) return because('can only get/update/patch this type');
    return ifRelated(isRelated, node, target);
  };

/** Tokens of the accounts of the node's pods. */
const creatingTokens =
  (isRelated: IsRelated): Rule =>
  (node, target) => {
    if (target.verb !== 'create' || target.name === '')
      return because('can only create tokens for individual service accounts');
    if (target.subresource !== 'token') return because('can only create token subresource of serviceaccount');
    return ifRelated(isRelated, node, target);
  };

const OWN_VERBS = ['get', 'create', 'update', 'patch', 'delete'];

const lease =
  (namespace: string): Rule =>
  (node, target) => {
    if (!OWN_VERBS.includes(target.verb)) return because('can only get, create, update, patch, or delete a node lease');
    if (target.namespace !== namespace) return because(`can only access leases in the "${namespace}" system namespace`);
    // The name of a new lease is in its body: admission checks it.
    if (target.verb !== 'create' && target.name !== node)
      return because('can only access node lease with the same name as the requesting node');
    return ALLOWED;
  };

const csiNode: Rule = (node, target) => {
  if (!OWN_VERBS.includes(target.verb)) return because('can only get, create, update, patch, or delete a CSINode');
  if (target.subresource !== '') return because('cannot authorize CSINode subresources');
  if (target.verb !== 'create' && target.name !== node)
    return because('can only access CSINode with the same name as the requesting node');
  return ALLOWED;
};

/** Whether a list, watch or deletion selects objects with the node in this field. */
const selectsNode = ({ fieldSelector }: ResourceTarget, key: string, node: string): boolean =>
  fieldSelector?.some(term => term.key === key && term.operator === '=' && term.values[0] === node) ?? false;

const resourceSlice =
  (isRelated: IsRelated): Rule =>
  (node, target) => {
    if (target.subresource !== '') return because('cannot authorize ResourceSlice subresources');
    switch (target.verb) {
      case 'create':
        return ALLOWED;
      case 'get':
      case 'update':
      case 'patch':
      case 'delete':
        return ifRelated(isRelated, node, target);
      case 'list':
      case 'watch':
      case 'deletecollection':
        return selectsNode(target, 'spec.nodeName', node)
          ? ALLOWED
          : because('can only list/watch/deletecollection resourceslices with nodeName field selector');
      default:
        return because(
          'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
        );
    }
  };

/** Nodes write nodes and their status, which admission restricts to their own, and read only their own. */
const ownNode: Rule = (node, target) => {
  const { verb, subresource } = target;
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? ALLOWED : NO_OPINION;
  if (subresource !== '') return NO_OPINION;
  if (verb === 'create' || verb === 'update' || verb === 'patch') return ALLOWED;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return NO_OPINION;
  const name = nameOf(target);
  if (name === node) return ALLOWED;
  return because(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  );
};

/** Nodes read the pods that are bound to them. Admission restricts writes to these. */
const ownPods =
  (isRelated: IsRelated): Rule =>
  (node, target) => {
    const { verb, subresource } = target;
    if (subresource === 'status') return verb === 'update' || verb === 'patch' ? ALLOWED : NO_OPINION;
    if (subresource === 'eviction') return verb === 'create' ? ALLOWED : NO_OPINION;
    if (subresource !== '') return NO_OPINION;
    if (verb === 'create' || verb === 'delete') return ALLOWED;
    if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return NO_OPINION;
    if (verb !== 'get' && selectsNode(target, 'spec.nodeName', node)) return ALLOWED;
    return verb === 'get' || nameOf(target) !== ''
      ? ifRelated(isRelated, node, target)
      : because('can only list/watch pods with spec.nodeName field selector');
  };

function rulesOf(graph: NodeGraph, { naming, isEnabled }: Pick<Host, 'naming' | 'isEnabled'>): Map<string, Rule> {
  const rules = new Map<string, Rule>([
    ['/secrets', reading(graph.usesSecret)],
    ['/configmaps', reading(graph.usesConfigMap)],
    ['/persistentvolumeclaims', readingAndReporting(graph.usesClaim)],
    ['/persistentvolumes', getting(graph.usesVolume)],
    ['resource.orchestrator.io/resourceclaims', getting(graph.usesResourceClaim)],
    ['storage.orchestrator.io/volumeattachments', getting(graph.hasAttachment)],
    ['/serviceaccounts', creatingTokens(graph.usesServiceAccount)],
    ['coordination.orchestrator.io/leases', lease(naming.component('orchestrator-node-lease'))],
    ['storage.orchestrator.io/csinodes', csiNode],
    ['resource.orchestrator.io/resourceslices', resourceSlice(graph.hasSlice)],
  ]);
  if (!isEnabled('AuthorizeNodeWithSelectors')) return rules;
  return rules.set('/nodes', ownNode).set('/pods', ownPods(graph.hasPod));
}

/** The authorizer of nodes, whose decisions are synchronous. */
export interface NodeAuthorizer extends Authorizer {
  authorize(user: User, target: Target): Decision;
}

/**
 * Decides about requests of nodes (spec, "Node authorization"): users of the group `system:nodes` with the name
 * `system:node:<node>`. About others it has no opinion. `rules` are for the kinds that are not restricted further.
 */
export function nodeAuthorizer(
  graph: NodeGraph,
  rules: CompiledRules,
  host: Pick<Host, 'naming' | 'isEnabled'>,
): NodeAuthorizer {
  const restricted = rulesOf(graph, host);
  return {
    dependsOn: [],
    authorize(user, target) {
      const node = nodeNameOf(user);
      if (node === undefined) return NO_OPINION;
      if (node === '') return because(`unknown node for user ${JSON.stringify(user.name)}`);
      if (target.is !== 'resource') return NO_OPINION;
      const { group, resource, subresource, verb } = target;
      const rule = restricted.get(`${group}/${resource}`);
      if (rule) return rule(node, target);
      const request = {
        verb,
        group,
        resource: subresource ? `${resource}/${subresource}` : resource,
        anySubresource: '',
        name: nameOf(target),
      };
      return allowsResource(rules, request) ? ALLOWED : NO_OPINION;
    },
    // The rights of nodes depend on their pods, which rules cannot show.
    rulesFor: user =>
      nodeNameOf(user) === undefined
        ? NO_RULES
        : { ...NO_RULES, incomplete: true, error: 'node authorizer does not support user rule resolution' },
  };
}
