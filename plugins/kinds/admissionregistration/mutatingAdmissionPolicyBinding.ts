import type { MutatingAdmissionPolicyBinding } from '../../../kinds/admissionregistration/v1alpha1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Violation } from '../../../core/model/refusal.js';
import { operationViolations } from './mutatingAdmissionPolicy.js';
import { policyBindingStrategy, validatePolicyBinding } from './validatingAdmissionPolicyBinding.js';

const validateBinding = (object: MutatingAdmissionPolicyBinding): Violation[] => [
  ...validatePolicyBinding(object),
  ...operationViolations(object.spec.matchResources, 'spec.matchResources'),
];

/** MutatingAdmissionPolicyBinding. */
export const mutatingAdmissionPolicyBinding = builtInKind<MutatingAdmissionPolicyBinding>(
  'admissionregistration.orchestrator.io/mutatingadmissionpolicybindings',
  () => ({
    ...policyBindingStrategy(),
    validateCreate: validateBinding,
    validateUpdate: validateBinding,
  }),
);
