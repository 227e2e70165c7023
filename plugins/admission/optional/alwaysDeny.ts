import { type Change, mutator, validator } from '../../../core/api/admission.js';
import type { Host } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { ApiObject, Frozen } from '../../../core/model/object.js';
import type { Refusal } from '../../../core/model/refusal.js';

import { forbiddenError, parseNothing } from '../podDraft.js';

const refuse = ({ naming }: Host, { target }: Change, object: Frozen<ApiObject> | ApiObject | undefined): Refusal =>
  forbiddenError(
    { group: naming.group(target.group), resource: target.resource },
    target.name || object?.metadata.name || object?.metadata.generateName || 'Unknown',
    'admission control is denying all modifications',
  );

/** Refuses every write and connection. */
export default definePlugin<undefined>({
  name: 'always-deny',
  parse: parseNothing,
  contribute: () => [
    mutator.of(host => ({
      on: { subresources: ['*'] },
      mutate(change, draft) {
        throw refuse(host, change, draft);
      },
    })),
    validator.of(host => ({
      on: { subresources: ['*'] },
      validate(change, object) {
        throw refuse(host, change, object);
      },
    })),
  ],
}) satisfies Plugin<undefined>;
