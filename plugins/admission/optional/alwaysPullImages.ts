import type { Pod, PodSpec } from '../../../kinds/v1.js';
import { type Change, mutator, type Mutator, validator, type Validator } from '../../../core/api/admission.js';
import type { Match } from '../../../core/api/checks/match.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { Frozen } from '../../../core/model/object.js';
import { notSupported } from '../../../core/model/refusal.js';

import { type AnyContainer, parseNothing, POD_CREATES, podForbiddenError } from '../podDraft.js';

const ON: Match = { ...POD_CREATES, operations: ['CREATE', 'UPDATE'] };

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

const containersOf = (pod: Frozen<PodSpec>): readonly AnyContainer[] =>
  LISTS.flatMap<AnyContainer>(list => pod[list] ?? []);

const imagesOf = (pod: Frozen<PodSpec>): ReadonlySet<string> =>
  new Set(containersOf(pod).map(({ image }) => image ?? ''));

/** Whether an update of a pod uses only images that the pod had before: such an update is left alone. */
function hasNoNewImages({ old }: Change, pod: Frozen<PodSpec>): boolean {
  if (!old) return false;
  const before = imagesOf((old as Frozen<Pod>).spec);
  return [...imagesOf(pod)].every(image => before.has(image));
}

/** Sets the pull policy of all images to Always. */
const setPolicies = (): Mutator => ({
  on: ON,
  mutate(change, draft) {
    const pod = (draft as Pod).spec;
    if (hasNoNewImages(change, pod)) return;
    for (const list of LISTS) for (const container of pod[list] ?? []) container.imagePullPolicy = 'Always';
    for (const { image } of pod.volumes ?? []) if (image) image.pullPolicy = 'Always';
  },
});

/** Refuses pods for which a later mutator has set another policy. */
const checkPolicies = (): Validator => ({
  on: ON,
  validate(change, object) {
    const { metadata, spec } = object as Frozen<Pod>;
    if (hasNoNewImages(change, spec)) return [];
    for (const list of LISTS)
      for (const [i, { imagePullPolicy }] of (spec[list] ?? []).entries()) {
        if (imagePullPolicy === 'Always') continue;
        const { field, message } = notSupported(`spec.${list}[${i}].imagePullPolicy`, imagePullPolicy, ['Always']);
        throw podForbiddenError(metadata, `${field}: ${message}`);
      }
    return [];
  },
});

/**
 * Images are pulled with the credentials of each pod, so that no pod uses an image only because another one has pulled
 * it.
 */
export default definePlugin<undefined>({
  name: 'always-pull-images',
  parse: parseNothing,
  contribute: () => [mutator.of(setPolicies), validator.of(checkPolicies)],
}) satisfies Plugin<undefined>;
