import { controller, type Plugin } from '../../core/api/index.js';
import { Keeper, type Kept } from './keeper.js';

const SYSTEM_NAMESPACES = ['default', 'orchestrator-system', 'orchestrator-public', 'orchestrator-node-lease'];

const namespace = (name: string): Kept => ({
  storageName: 'core/namespaces',
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
});

/** Keeps the namespaces that clients take for granted. */
export const systemNamespaces = {
  name: 'controllers/system-namespaces',
  parse: () => ({}),
  contribute: () => [
    controller.of(
      host =>
        new Keeper(
          host,
          'system-namespaces',
          SYSTEM_NAMESPACES.map(name => namespace(host.naming.component(name))),
        ),
    ),
  ],
} satisfies Plugin;
