import { builtInKind } from '../../../core/api/resource.js';
import { policyBindingStrategy } from './validatingAdmissionPolicyBinding.js';

/** MutatingAdmissionPolicyBinding. */
export const mutatingAdmissionPolicyBinding = builtInKind(
  'admissionregistration.orchestrator.io/mutatingadmissionpolicybindings',
  policyBindingStrategy,
);
