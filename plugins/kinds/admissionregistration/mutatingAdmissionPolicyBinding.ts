import { builtInKind } from '../../../core/api/resource.js';
import type { ApiObject } from '../../../core/model/object.js';
import { recordAt } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { setIfAbsent } from '../shared/defaults.js';
import { operationViolations } from './mutatingAdmissionPolicy.js';
import { policyBindingStrategy, validatePolicyBinding } from './validatingAdmissionPolicyBinding.js';

const validateBinding = (object: ApiObject): Violation[] => [
  ...validatePolicyBinding(object),
  ...operationViolations(object, 'matchResources'),
];

/** MutatingAdmissionPolicyBinding. */
export const mutatingAdmissionPolicyBinding = builtInKind(
  'admissionregistration.orchestrator.io/mutatingadmissionpolicybindings',
  () => {
    const strategy = policyBindingStrategy();
    return {
      ...strategy,
      applyDefaults: object => {
        strategy.applyDefaults?.(object);
        const reference = recordAt(object, 'spec', 'paramRef');
        if (reference) setIfAbsent(reference, 'parameterNotFoundAction', 'Deny');
      },
      validateCreate: validateBinding,
      validateUpdate: validateBinding,
    };
  },
);
