import type { ServiceAccount } from '../../../../kinds/v1.js';
import { countOf } from '../../../../plugins/kinds/shared/columns.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import { AGE, column, NAME } from '../../shared/columns.js';
import { answerTokenRequest } from './tokenRequest.js';

const COLUMNS: readonly Column<ServiceAccount>[] = [NAME, column('Secrets', object => countOf(object.secrets)), AGE];

/** Of references to secrets, the names alone are kept: all of them are in the namespace of the account. */
function keepSecretNames(object: ServiceAccount): void {
  if (Array.isArray(object['secrets'])) object['secrets'] = object.secrets.map(secret => ({ name: secret.name ?? '' }));
}

/** ServiceAccount. Answers requests for tokens, and warns about a deprecated annotation when it is set. */
export const serviceAccount = builtInKind<ServiceAccount>('core/serviceaccounts', (naming, host) => {
  const limit = naming.label('orchestrator.io/enforce-mountable-secrets');
  const why = `metadata.annotations[${limit}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;
  const hasLimitAnnotation = ({ metadata }: ServiceAccount): boolean =>
    Object.hasOwn(metadata.annotations ?? {}, limit);
  return {
    returnsDeletedObject: true,
    reads: ['core/pods', 'core/secrets', 'core/nodes'],
    prepareCreate: keepSecretNames,
    prepareUpdate: keepSecretNames,
    validateCreate: (object, context) => {
      if (hasLimitAnnotation(object)) context.warn?.(why);
      return [];
    },
    validateUpdate: (object, old, context) => {
      if (hasLimitAnnotation(object) && !hasLimitAnnotation(old)) context.warn?.(why);
      return [];
    },
    answers: new Map([['token', answerTokenRequest(host)]]),
    confidential: ['token'],
    columns: COLUMNS,
  };
});
