import { builtInKind } from '../../../core/api/resource.js';
import { NAME_AND_AGE } from '../shared/columns.js';

export const resourceClaimTemplate = builtInKind('resource.orchestrator.io/resourceclaimtemplates', () => ({
  deleteAnswer: 'object',
  columns: NAME_AND_AGE,
}));
