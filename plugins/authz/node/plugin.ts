import { authorizer, definePlugin, type Plugin } from '../../../core/api/index.js';
import { NODE_RULES } from '../bootstrap/componentRoles.js';
import { compileRules } from '../rbac/rules.js';
import { nodeAuthorizer } from './authorize.js';
import { NodeGraph } from './graph.js';

/** Mode Node: what node agents may do. */
export default definePlugin({
  name: 'node',
  parse: () => null,
  contribute: () => [authorizer.of(host => nodeAuthorizer(new NodeGraph(host), compileRules(NODE_RULES), host))],
}) satisfies Plugin<null>;
