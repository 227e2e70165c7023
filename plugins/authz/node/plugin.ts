import { type Authorizer, authorizer, definePlugin, type Host, type Plugin } from '../../../core/api/index.js';
import { NODE_RULES } from '../bootstrap/componentRoles.js';
import { withGatedRules } from '../bootstrap/gatedRoles.js';
import { compileRules } from '../rbac/rules.js';
import { nodeAuthorizer } from './authorize.js';
import { NodeGraph } from './graph.js';

/** Allows node agents the requests that their pods need. */
export const makeNodeAuthorizer = (host: Host<'pool'>): Authorizer =>
  nodeAuthorizer(new NodeGraph(host), compileRules(withGatedRules('system:node', NODE_RULES, host.isEnabled)), host);

/** The mode Node, which decides about requests of node agents. */
export default definePlugin({
  name: 'node',
  parse: () => null,
  contribute: () => [authorizer.of(makeNodeAuthorizer)],
}) satisfies Plugin<null>;
