import { qualifyResource, Refusal } from '../model/refusal.js';
import { nameOf, type ResourceTarget, type Target } from '../model/target.js';
import type { User } from '../model/user.js';
import type { Naming } from '../naming.js';

const quoted = (text: string): string => JSON.stringify(text);

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** A text without markup: it repeats what the client sent, and a browser may show it. */
const escapeMarkup = (text: string): string => text.replace(/[&<>]/g, found => ENTITIES[found]!);

function describeScope(target: ResourceTarget): string {
  return target.namespace ? `in the namespace ${quoted(target.namespace)}` : 'at the cluster scope';
}

function describeAction(user: User, target: Target, naming: Naming): string {
  const who = `User ${quoted(user.name)} cannot ${target.verb}`;
  if (target.is === 'path') return `${who} path ${quoted(target.path)}`;
  const resource = target.subresource ? `${target.resource}/${target.subresource}` : target.resource;
  return `${who} resource ${quoted(resource)} in API group ${quoted(naming.group(target.group))} ${describeScope(target)}`;
}

/**
 * 403 for a request that no authorizer allowed (spec, "Errors"). `reason` is that of the authorizers and may be empty.
 * The message names the resource as `deployments.apps "x"`; `details.kind` is the resource without its
 * subresource.
 */
export function forbidden(user: User, target: Target, reason: string, naming: Naming): Refusal {
  const what = escapeMarkup(describeAction(user, target, naming)) + (reason ? `: ${reason}` : '');
  if (target.is === 'path') return new Refusal('Forbidden', `forbidden: ${what}`, {});
  const group = naming.group(target.group);
  const name = nameOf(target);
  const subject = qualifyResource({ group, resource: target.resource }) + (name ? ` ${quoted(name)}` : '');
  return new Refusal('Forbidden', `${subject} is forbidden: ${what}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    kind: target.resource,
  });
}
