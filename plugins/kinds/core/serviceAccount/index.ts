import type { ServiceAccount } from '../../../../kinds/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../../core/api/strategy.js';
import { countOf, AGE, column, NAME } from '../../shared/columns.js';
import { answerTokenRequest } from './tokenRequest.js';

const COLUMNS: readonly Column<ServiceAccount>[] = [NAME, column('Secrets', object => countOf(object.secrets)), AGE];

/** References to secrets keep only their names, since all secrets are in the namespace of the account. */
function keepSecretNames(object: ServiceAccount): void {
  if (Array.isArray(object['secrets'])) object['secrets'] = object.secrets.map(secret => ({ name: secret.name ?? '' }));
}

/** ServiceAccount. Answers requests for tokens. Warns about a deprecated annotation when it is set. */
export const serviceAccount = builtInKind<ServiceAccount>('core/serviceaccounts', (naming, host) => {
  const limit = naming.label('orchestrator.io/enforce-mountable-secrets');
  const deprecation = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets';
  const hasLimit = ({ metadata }: ServiceAccount): boolean => Object.hasOwn(metadata.annotations ?? {}, limit);
  const warnOfLimit = (object: ServiceAccount, old: ServiceAccount | undefined, { warn }: StrategyContext): void => {
    if (hasLimit(object) && !(old && hasLimit(old))) warn?.(`metadata.annotations[${limit}]: ${deprecation}`);
  };
  return {
    revalidatesName: true,
    returnsDeletedObject: true,
    reads: ['core/pods', 'core/secrets', 'core/nodes'],
    prepareCreate: keepSecretNames,
    prepareUpdate: keepSecretNames,
    validateCreate: (object, context) => {
      warnOfLimit(object, undefined, context);
      return [];
    },
    validateUpdate: (object, old, context) => {
      warnOfLimit(object, old, context);
      return [];
    },
    answers: new Map([['token', answerTokenRequest(host)]]),
    confidential: ['token'],
    columns: COLUMNS,
  };
});
