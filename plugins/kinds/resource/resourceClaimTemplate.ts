import { builtInKind } from '../../../core/api/resource.js';
import { NAME_AND_AGE } from '../shared/columns.js';

/** ResourceClaimTemplate. */
export const resourceClaimTemplate = builtInKind('resource.orchestrator.io/resourceclaimtemplates', () => ({
  returnsDeletedObject: true,
  columns: NAME_AND_AGE,
}));
