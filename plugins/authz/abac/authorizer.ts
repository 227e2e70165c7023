import type { Authorizer, Host, Target, User } from '../../../core/api/index.js';
import { withoutTrailing } from '../../../core/model/text/trailing.js';
import { nearestRules, type Part } from '../nearest.js';
import type { Policy } from './policy.js';

/** The name of the service that reads the policy file. */
export const ABAC_SERVICE = 'authz/abac';

/** How long a decision may be remembered, in milliseconds: a change of the file is effective within seconds. */
const REMEMBERED_MS = 1000;
const READING = ['get', 'list', 'watch'];

/** Whether a policy is about a user: both its user and its group, where it has them, must match. */
const isAbout = ({ user, group }: Policy, { name, groups }: User): boolean =>
  (user !== '' || group !== '') && (user === '' || user === name) && (group === '' || groups.includes(group));

const covers = (pattern: string, word: string): boolean => pattern === '*' || pattern === word;

function coversPath(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith('*') && path.startsWith(withoutTrailing(pattern, '*')));
}

/** The parts of a request that a policy about its sender does not cover. Empty: the policy allows it. */
function missingParts(policy: Policy, target: Target, naming: Host['naming']): readonly Part[] {
  const has = (part: Part, isCovered: boolean): readonly Part[] => (isCovered ? [] : [part]);
  const verb = has('verb', !policy.readonly || READING.includes(target.verb));
  if (target.is === 'path') return [...verb, ...has('path', coversPath(policy.nonResourcePath, target.path))];
  return [
    ...verb,
    ...has('apiGroup', covers(policy.apiGroup, naming.group(target.group))),
    ...has('resource', covers(policy.resource, target.resource)),
    ...has('namespace', covers(policy.namespace, target.namespace)),
  ];
}

/**
 * Decides by the lines of a policy file (spec, "ABAC mode"): any line that matches allows. It never denies. Groups of
 * the file are in the naming of the server, and a resource is its main resource: policies do not distinguish
 * subresources.
 */
export function abacAuthorizer({ service, naming }: Pick<Host<'pool'>, 'service' | 'naming'>): Authorizer {
  const source = service(ABAC_SERVICE);
  const policies = async (): Promise<readonly Policy[]> => (await source.state()) as readonly Policy[];
  return {
    dependsOn: REMEMBERED_MS,
    async authorize(user, target) {
      for (const policy of await policies())
        if (isAbout(policy, user) && missingParts(policy, target, naming).length === 0) return { is: 'allow' };
      return { is: 'noOpinion', reason: 'No policy matched.' };
    },
    async explain(user, target) {
      const own = (await policies()).filter(
        policy => isAbout(policy, user) && (target.is === 'resource' || policy.nonResourcePath !== ''),
      );
      const candidates = own.map(policy => ({
        source: `line ${policy.line} of the policy file`,
        missing: missingParts(policy, target, naming),
        rule: () => JSON.stringify({ ...policy, line: undefined }),
      }));
      return { rules: nearestRules(candidates) };
    },
    async rulesFor(user, namespace) {
      const own = (await policies()).filter(one => isAbout(one, user) && covers(one.namespace, namespace));
      const verbsOf = ({ readonly }: Policy): readonly string[] => (readonly ? READING : ['*']);
      return {
        resourceRules: own.flatMap(one =>
          one.resource ? { verbs: verbsOf(one), apiGroups: [one.apiGroup], resources: [one.resource] } : [],
        ),
        pathRules: own.flatMap(one =>
          one.nonResourcePath ? { verbs: verbsOf(one), nonResourceURLs: [one.nonResourcePath] } : [],
        ),
      };
    },
  };
}
