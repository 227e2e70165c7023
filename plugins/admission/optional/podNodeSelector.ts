import type { Namespace, Pod } from '../../../kinds/v1.js';
import { type Change, mutator, type Mutator, validator, type Validator } from '../../../core/api/admission.js';
import type { Host, Informer } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import { ConfigError, type Plugin } from '../../../core/api/point.js';
import { labelValue, qualifiedName } from '../../../core/model/names.js';
import type { Frozen } from '../../../core/model/object.js';
import { isRecord, ownValue } from '../../../core/model/record.js';
import { Refusal } from '../../../core/model/refusal.js';
import { goQuote } from '../../../core/model/text/quote.js';

import { recordOf } from '../configuration.js';
import { POD_CREATES, podForbiddenError } from '../podDraft.js';

/** Labels of nodes. */
type Labels = ReadonlyMap<string, string>;

/** The selectors of the configuration. */
interface NodeSelectors {
  /** The node selector of namespaces without an annotation. */
  readonly clusterDefault: Labels;
  /** The labels that pods of a namespace may select by, by its name. */
  readonly byNamespace: ReadonlyMap<string, Labels>;
}

const ROOT = 'podNodeSelectorPluginConfig';
const DEFAULT = 'clusterDefaultNodeSelector';

/** Parses `a=b,c=d`. Returns an error message for a text of another form. */
function parseSelector(text: string): Labels | string {
  const labels = new Map<string, string>();
  if (text === '') return labels;
  for (const pair of text.split(',')) {
    const parts = pair.split('=');
    if (parts.length !== 2) return `invalid selector: [${parts.join(' ')}]`;
    const [key, value] = parts.map(part => part.trim()) as [string, string];
    const ofKey = qualifiedName(key);
    // Upstream prints the field, which is not known here, as <nil>.
    if (ofKey.length > 0) return `<nil>: Invalid value: ${goQuote(key)}: ${ofKey.join('; ')}`;
    const ofValue = labelValue(value);
    if (ofValue.length > 0) return `<nil>: Invalid value: ${goQuote(value)}: ${ofValue.join('; ')}`;
    labels.set(key, value);
  }
  return labels;
}

function parseConfig(config: unknown): NodeSelectors {
  const whole = recordOf(config ?? {}, '', [ROOT]);
  const selectors = whole[ROOT] ?? {};
  if (!isRecord(selectors)) throw new ConfigError(ROOT, 'must be an object of node selectors by namespace');
  const parsed = Object.entries(selectors).map(([name, text]) => {
    const labels = typeof text === 'string' ? parseSelector(text) : 'must be a string such as "env=test,tier=a"';
    if (typeof labels === 'string') throw new ConfigError(`${ROOT}.${name}`, labels);
    return [name, labels] as const;
  });
  const byNamespace = new Map(parsed.filter(([name]) => name !== DEFAULT));
  return { clusterDefault: new Map(parsed).get(DEFAULT) ?? new Map(), byNamespace };
}

type Selector = { readonly [key: string]: string } | undefined;

const isConflict = (namespace: Labels, pod: Selector): boolean =>
  [...namespace].some(([key, value]) => (ownValue(pod, key) ?? value) !== value);

/** The node selector of a namespace: that of its annotation, or that of the cluster. */
function namespaceSelectors(host: Host<'pool'>, { clusterDefault }: NodeSelectors): (change: Change) => Labels {
  const namespaces = host.informer('core/namespaces') as Informer<Namespace>;
  const annotation = host.naming.label('scheduler.alpha.orchestrator.io/node-selector');
  return ({ target }) => {
    const text = ownValue(namespaces.get('', target.namespace)?.metadata.annotations, annotation);
    if (text === undefined) return clusterDefault;
    const labels = parseSelector(text);
    if (typeof labels === 'string') throw new Refusal('', labels);
    return labels;
  };
}

/** A 403. It does not name a pod whose name is not generated yet. */
function conflictError({ metadata }: Pick<Frozen<Pod>, 'metadata'>): Refusal {
  const why = 'pod node label selector conflicts with its namespace node label selector';
  if (metadata.name) return podForbiddenError(metadata, why);
  return new Refusal('Forbidden', `pods is forbidden: ${why}`, { kind: 'pods' });
}

/** Adds the node selector of the namespace to new pods. */
const addSelectors =
  (config: NodeSelectors) =>
  (host: Host<'pool'>): Mutator => {
    const selectorOf = namespaceSelectors(host, config);
    return {
      on: POD_CREATES,
      mutate(change, draft) {
        const pod = draft as Pod;
        const labels = selectorOf(change);
        if (isConflict(labels, pod.spec.nodeSelector)) throw conflictError(pod);
        if (labels.size > 0) pod.spec.nodeSelector = { ...Object.fromEntries(labels), ...pod.spec.nodeSelector };
      },
    };
  };

/** Refuses pods that select nodes by labels which the configuration does not allow for their namespace. */
const checkSelectors =
  (config: NodeSelectors) =>
  (host: Host<'pool'>): Validator => {
    const selectorOf = namespaceSelectors(host, config);
    return {
      on: POD_CREATES,
      validate(change, object) {
        const pod = object as Frozen<Pod>;
        const { nodeSelector } = pod.spec;
        if (isConflict(selectorOf(change), nodeSelector)) throw conflictError(pod);
        const allowed = config.byNamespace.get(change.target.namespace);
        if (!allowed || allowed.size === 0) return [];
        if (Object.entries(nodeSelector ?? {}).some(([key, value]) => allowed.get(key) !== value))
          throw podForbiddenError(pod.metadata, 'pod node label selector labels conflict with its namespace whitelist');
        return [];
      },
    };
  };

/** The nodes that pods of a namespace may run on. */
export default definePlugin<NodeSelectors>({
  name: 'pod-node-selector',
  parse: parseConfig,
  contribute: config => [mutator.of(addSelectors(config)), validator.of(checkSelectors(config))],
}) satisfies Plugin<NodeSelectors>;
