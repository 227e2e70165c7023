import { builtInKind } from '../../../core/api/resource.js';
import { policyStrategy } from './validatingAdmissionPolicy.js';

export const mutatingAdmissionPolicy = builtInKind(
  'admissionregistration.orchestrator.io/mutatingadmissionpolicies',
  () => policyStrategy(true),
);
