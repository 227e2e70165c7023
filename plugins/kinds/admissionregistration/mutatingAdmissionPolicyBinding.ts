import { builtInKind } from '../../../core/api/resource.js';
import { recordAt } from '../../../core/model/record.js';
import { setIfAbsent } from '../shared/defaults.js';
import { policyBindingStrategy, validatePolicyBinding } from './validatingAdmissionPolicyBinding.js';

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
      validateCreate: validatePolicyBinding,
      validateUpdate: validatePolicyBinding,
    };
  },
);
