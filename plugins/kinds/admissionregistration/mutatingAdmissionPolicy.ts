import { builtInKind } from '../../../core/api/resource.js';
import { countColumn } from '../shared/columns.js';
import { policyStrategy } from './validatingAdmissionPolicy.js';

/** MutatingAdmissionPolicy. */
export const mutatingAdmissionPolicy = builtInKind(
  'admissionregistration.orchestrator.io/mutatingadmissionpolicies',
  () => policyStrategy(countColumn('Mutations', 'spec.mutations')),
);
