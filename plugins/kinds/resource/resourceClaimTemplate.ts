import type { ResourceClaimTemplate } from '../../../kinds/resource/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { NAME_AND_AGE } from '../shared/columns.js';

/** ResourceClaimTemplate. */
export const resourceClaimTemplate = builtInKind<ResourceClaimTemplate>(
  'resource.orchestrator.io/resourceclaimtemplates',
  () => ({
    returnsDeletedObject: true,
    columns: NAME_AND_AGE,
  }),
);
