import type { Service } from '../../../kinds/v1.js';
import { validator } from '../../../core/api/admission.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { Frozen } from '../../../core/model/object.js';

import { forbiddenError, parseNothing } from '../podDraft.js';

const SERVICES = { group: '', resource: 'services' };

/** Refuses external IPs in services, except those that a service already has. */
export default definePlugin<undefined>({
  name: 'deny-service-external-ips',
  parse: parseNothing,
  contribute: () => [
    validator.of(() => ({
      on: { groups: [SERVICES.group], resources: [SERVICES.resource], operations: ['CREATE', 'UPDATE'] },
      validate({ target, old }, object) {
        const known = new Set((old as Frozen<Service> | undefined)?.spec.externalIPs);
        const added = ((object as Frozen<Service>).spec.externalIPs ?? []).some(address => !known.has(address));
        if (added) throw forbiddenError(SERVICES, target.name, 'Use of external IPs is denied by admission control');
        return [];
      },
    })),
  ],
}) satisfies Plugin<undefined>;
