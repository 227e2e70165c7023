import {
  type ApiObject,
  definePlugin,
  forbiddenField,
  type Frozen,
  invalid,
  type Match,
  mutator,
  type Violation,
  validator,
} from 'capstan/api';
import { z } from 'zod';

const config = z.strictObject({
  /** Prefixes of images, and their replacements. */
  mirrors: z.record(z.string().min(1), z.string().min(1)).default({}),
  /** Prefixes that images may have. */
  allowed: z.array(z.string().min(1)).min(1),
});

interface Container {
  image?: string;
}

interface PodSpec {
  containers?: Container[];
  initContainers?: Container[];
}

const PODS: Match = { groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] };

/** The containers of a pod, each with its path. */
function containersOf(pod: Frozen<ApiObject>): (readonly [path: string, container: Container])[] {
  const spec = (pod['spec'] ?? {}) as PodSpec;
  return (['initContainers', 'containers'] as const).flatMap(list =>
    (spec[list] ?? []).map((container, i) => [`spec.${list}[${i}]`, container] as const),
  );
}

/** The image with its prefix replaced by the mirror with the longest matching prefix. */
function mirrored(image: string, mirrors: Readonly<Record<string, string>>): string {
  const [found] = Object.keys(mirrors)
    .filter(prefix => image.startsWith(prefix))
    .sort((a, b) => b.length - a.length);
  return found === undefined ? image : mirrors[found] + image.slice(found.length);
}

const hasVersion = (image: string): boolean => /[:@]./.test(image.slice(image.lastIndexOf('/') + 1));

function violationsOf(path: string, image: string, allowed: readonly string[]): Violation[] {
  const found: Violation[] = [];
  if (!allowed.some(prefix => image.startsWith(prefix)))
    found.push(forbiddenField(`${path}.image`, `images must come from ${allowed.join(' or ')}`));
  if (!hasVersion(image)) found.push(invalid(`${path}.image`, image, 'must have a tag or a digest'));
  return found;
}

/** Rewrites images to mirrors, and refuses images from other registries and images without a version. */
export default definePlugin({
  name: 'image-policy',
  config,
  contribute: ({ mirrors, allowed }) => [
    mutator.of(() => ({
      on: PODS,
      mutate(_change, draft) {
        for (const [, container] of containersOf(draft))
          if (container.image !== undefined) container.image = mirrored(container.image, mirrors);
      },
    })),
    validator.of(() => ({
      on: PODS,
      validate: (_change, after) =>
        after ? containersOf(after).flatMap(([path, { image = '' }]) => violationsOf(path, image, allowed)) : [],
    })),
  ],
});
