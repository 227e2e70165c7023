import { goQuote } from '../model/text/quote.js';
import { qualifyResource, Refusal } from '../model/refusal.js';
import { nameOf, type ResourceTarget, type Target } from '../model/target.js';
import type { User } from '../model/user.js';
import type { Naming } from '../naming.js';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** Escapes markup in a text that repeats input of the client, because a browser may display it. */
const escapeMarkup = (text: string): string => text.replace(/[&<>]/g, found => ENTITIES[found]!);

function describeScope(target: ResourceTarget): string {
  return target.namespace ? `in the namespace ${goQuote(target.namespace)}` : 'at the cluster scope';
}

function describeAction(user: User, target: Target, naming: Naming): string {
  const who = `User ${goQuote(user.name)} cannot ${target.verb}`;
  if (target.is === 'path') return `${who} path ${goQuote(target.path)}`;
  const resource = target.subresource ? `${target.resource}/${target.subresource}` : target.resource;
  return `${who} resource ${goQuote(resource)} in API group ${goQuote(naming.group(target.group))} ${describeScope(target)}`;
}

/**
 * 403 for a request that no authorizer allowed (spec, "Errors"). `reason` is the joined reason of the authorizers and
 * may be empty. The message names the resource as `deployments.apps "x"`; `details.kind` is the resource without its
 * subresource.
 */
export function forbidden(user: User, target: Target, reason: string, naming: Naming): Refusal {
  const what = escapeMarkup(describeAction(user, target, naming)) + (reason ? `: ${reason}` : '');
  if (target.is === 'path') return new Refusal('Forbidden', `forbidden: ${what}`, {});
  const group = naming.group(target.group);
  const name = nameOf(target);
  const subject = qualifyResource({ group, resource: target.resource }) + (name ? ` ${goQuote(name)}` : '');
  return new Refusal('Forbidden', `${subject} is forbidden: ${what}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    kind: target.resource,
  });
}
