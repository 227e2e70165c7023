import {
  type ApiObject,
  ConfigError,
  definePlugin,
  forbiddenField,
  type Frozen,
  type Plugin,
  validator,
  type Violation,
} from 'capstan/api';

/** The allowed registries, such as `registry.example.com/`. */
interface Config {
  readonly allowed: readonly string[];
}

interface PodSpec {
  readonly containers?: readonly { readonly image?: string }[];
  readonly initContainers?: readonly { readonly image?: string }[];
}

function parse(config: unknown): Config {
  const { allowed } = (config ?? {}) as Partial<Config>;
  if (!Array.isArray(allowed) || allowed.length === 0)
    throw new ConfigError('allowed', 'expected a list of image prefixes');
  return { allowed };
}

/** The pod specification with its path: that of a pod, or of the template of a workload. */
function podSpec(object: Frozen<ApiObject>): [path: string, spec: PodSpec] {
  const spec = (object['spec'] ?? {}) as PodSpec & { template?: { spec?: PodSpec } };
  return spec.template ? ['spec.template.spec', spec.template.spec ?? {}] : ['spec', spec];
}

/** Validator: every image must come from an allowed registry. One answer lists all images that do not. */
export default definePlugin({
  name: 'image-registries',
  parse,
  contribute: ({ allowed }) => [
    validator.of(() => ({
      on: {
        groups: ['', 'apps'],
        resources: ['pods', 'deployments', 'daemonsets', 'statefulsets'],
        operations: ['CREATE', 'UPDATE'],
      },
      validate(_change, after): readonly Violation[] {
        if (!after) return [];
        const [path, spec] = podSpec(after);
        const check = (list: 'containers' | 'initContainers'): Violation[] =>
          (spec[list] ?? []).flatMap(({ image = '' }, i) =>
            allowed.some(prefix => image.startsWith(prefix))
              ? []
              : [forbiddenField(`${path}.${list}[${i}].image`, `images must come from ${allowed.join(' or ')}`)],
          );
        return [...check('initContainers'), ...check('containers')];
      },
    })),
  ],
}) satisfies Plugin<Config>;
