import { validator } from '../../../core/api/admission.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import { notFound } from '../../../core/model/refusal.js';

import { parseNothing } from '../podDraft.js';

/** Answers 404 to writes in namespaces that do not exist. */
export default definePlugin<undefined>({
  name: 'namespace-exists',
  parse: parseNothing,
  contribute: () => [
    validator.of(host => {
      const namespaces = host.informer('core/namespaces');
      return {
        on: { operations: ['CREATE', 'UPDATE', 'DELETE'], subresources: ['*'] },
        validate({ target }) {
          const { namespace, group, resource } = target;
          if (namespace === '' || (group === '' && resource === 'namespaces')) return [];
          if (!namespaces.get('', namespace)) throw notFound({ group: '', resource: 'namespaces' }, namespace);
          return [];
        },
      };
    }),
  ],
}) satisfies Plugin<undefined>;
