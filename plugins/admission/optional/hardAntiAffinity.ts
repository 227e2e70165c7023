import type { Pod } from '../../../kinds/v1.js';
import { validator } from '../../../core/api/admission.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { Frozen } from '../../../core/model/object.js';

import { parseNothing, POD_CREATES, podForbiddenError } from '../podDraft.js';

/** Refuses pods whose required anti-affinity keeps others away from more than one node, such as from a whole zone. */
export default definePlugin<undefined>({
  name: 'limit-pod-hard-anti-affinity-topology',
  parse: parseNothing,
  contribute: () => [
    validator.of(({ naming }) => {
      const allowed = naming.label('orchestrator.io/hostname');
      return {
        on: { ...POD_CREATES, operations: ['CREATE', 'UPDATE'] },
        validate(_change, object) {
          const { metadata, spec } = object as Frozen<Pod>;
          const terms = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
          const wide = terms.find(({ topologyKey }) => topologyKey !== allowed);
          if (!wide) return [];
          throw podForbiddenError(
            metadata,
            `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey} but only key ` +
              `${allowed} is allowed`,
          );
        },
      };
    }),
  ],
}) satisfies Plugin<undefined>;
