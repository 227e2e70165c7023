import { effect, signal } from '@preact/signals';
import { namespace } from '../router.js';
import { sendJson } from './http.js';
import { session, systemGroup } from './session.js';
import type { Kind } from './kinds.js';

interface Rules {
  readonly resourceRules?: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly nonResourceRules?: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs?: readonly string[];
  }[];
  readonly incomplete?: boolean;
}

/** The rules of the user in the selected namespace; undefined until they are known. */
const rules = signal<Rules | undefined>(undefined);

const has = (list: readonly string[] = [], name: string): boolean => list.includes('*') || list.includes(name);

/**
 * Whether a user with these rules may use a verb on all objects of a kind. If the server calls the rules incomplete,
 * nothing is hidden: the server decides about each request.
 */
function allows({ resourceRules = [], incomplete = false }: Rules, verb: string, group: string, resource: string) {
  const isAllowed = resourceRules.some(
    rule =>
      has(rule.verbs, verb) &&
      has(rule.apiGroups, group) &&
      has(rule.resources, resource) &&
      !rule.resourceNames?.length,
  );
  return isAllowed || incomplete;
}

/**
 * Whether the user may use a verb on the objects of a kind in the selected namespace, as far as the console knows. That
 * determines what it shows; the server decides. True until the rules are known.
 */
export const mayInNamespace = (verb: string, { group, resource }: Pick<Kind, 'group' | 'resource'>): boolean =>
  rules.value === undefined || allows(rules.value, verb, group, resource);

/**
 * Whether the user may read a path outside of the resources, such as `/metrics`, as far as the console knows. True
 * until the rules are known.
 */
export function mayReadPath(path: string): boolean {
  if (rules.value === undefined) return true;
  const { nonResourceRules = [], incomplete = false } = rules.value;
  const isOf = (pattern: string): boolean =>
    pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
  return incomplete || nonResourceRules.some(rule => has(rule.verbs, 'get') && rule.nonResourceURLs?.some(isOf));
}

/** Reads the rules of the user, now and when the namespace or the user changes. */
export const followRules = (): (() => void) =>
  effect(() => {
    const user = session.value?.user;
    const selected = namespace.value || 'default';
    if (user) void readRules(selected);
  });

async function readRules(of: string): Promise<void> {
  const apiVersion = `${systemGroup('authorization')}/v1`;
  try {
    const body = { apiVersion, kind: 'SelfSubjectRulesReview', spec: { namespace: of } };
    const path = `/apis/${apiVersion}/selfsubjectrulesreviews`;
    rules.value = (await sendJson<{ readonly status: Rules }>('POST', path, { body })).status;
  } catch {
    rules.value = undefined;
  }
}

/** The attributes of a request, by the names that access reviews give them. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Asks the server whether the user may make a request. False if it does not answer. */
export async function may(resourceAttributes: Attributes): Promise<boolean> {
  const apiVersion = `${systemGroup('authorization')}/v1`;
  try {
    const body = { apiVersion, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
    const path = `/apis/${apiVersion}/selfsubjectaccessreviews`;
    const { status } = await sendJson<{ readonly status: { readonly allowed: boolean } }>('POST', path, { body });
    return status.allowed;
  } catch {
    return false;
  }
}
