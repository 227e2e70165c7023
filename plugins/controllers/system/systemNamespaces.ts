import { controller, type Plugin } from '../../../core/api/index.js';
import { type DesiredObject, desiredObjects } from '../desiredObjects.js';

const SYSTEM_NAMESPACES = ['default', 'orchestrator-system', 'orchestrator-public', 'orchestrator-node-lease'];

const namespace = (name: string): DesiredObject => ({
  storageName: 'core/namespaces',
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
});

/** Maintains the namespaces that exist in every cluster. */
export const systemNamespaces = {
  name: 'controllers/system-namespaces',
  parse: () => ({}),
  contribute: () => [
    controller.of(host =>
      desiredObjects(
        host,
        'system-namespaces',
        SYSTEM_NAMESPACES.map(name => namespace(host.naming.component(name))),
      ),
    ),
  ],
} satisfies Plugin;
