import type { Exchange } from '../../core/api/listener.js';
import type { Registry } from '../../core/schema/resource.js';
import { decodeYaml } from '../../core/schema/yaml.js';
import type { Route } from '../../core/request/route.js';

/**
 * Bodies in YAML above this size are not looked at here: reading them takes seconds, which every other request would
 * wait.
 */
const YAML_BYTES = 64 * 1024;

/** `metadata.name` of a body, '' if it cannot be read: the pipeline says what is wrong with it. */
function nameIn(exchange: Exchange, body: Uint8Array): string {
  try {
    const yaml = exchange.header('content-type')?.includes('yaml');
    if (yaml && body.length > YAML_BYTES) return '';
    const object: unknown = yaml ? decodeYaml(body) : JSON.parse(Buffer.from(body).toString());
    const name = (object as { metadata?: { name?: unknown } } | null)?.metadata?.name;
    return typeof name === 'string' ? name : '';
  } catch {
    return '';
  }
}

/**
 * The route to the object that a write changes: for a create on a virtual resource that acts on another, the one its
 * body names.
 */
export function actedOn(registry: Registry, route: Route, exchange: Exchange, body: Uint8Array): Route {
  const { target, resource } = route;
  const actsOn = resource?.strategy.actsOn;
  if (!actsOn || target.is !== 'resource' || target.verb !== 'create') return route;
  const acted = registry.find(resource.group, resource.version, actsOn.plural);
  return { ...route, resource: acted, target: { ...target, name: nameIn(exchange, body) } };
}
