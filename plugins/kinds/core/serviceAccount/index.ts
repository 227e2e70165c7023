import type { ServiceAccount } from '../../../../kinds/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../../core/api/strategy.js';
import { countOf, AGE, column, NAME } from '../../shared/columns.js';
import { answerTokenRequest } from './tokenRequest.js';

const COLUMNS: readonly Column<ServiceAccount>[] = [NAME, column('Secrets', object => countOf(object.secrets)), AGE];

/** Of references to secrets, the names alone are kept: all of them are in the namespace of the account. */
function keepSecretNames(object: ServiceAccount): void {
  if (Array.isArray(object['secrets'])) object['secrets'] = object.secrets.map(secret => ({ name: secret.name ?? '' }));
}

/** The texts that upstream reads as true. */
const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];

/**
 * ServiceAccount. Answers requests for tokens. Warns about a deprecated annotation when it is set, and that it has no
 * effect when it begins to ask for one.
 */
export const serviceAccount = builtInKind<ServiceAccount>('core/serviceaccounts', (naming, host) => {
  const limit = naming.label('orchestrator.io/enforce-mountable-secrets');
  const field = `metadata.annotations[${limit}]`;
  const deprecation = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets';
  const absence = 'not enforced by this server; pods may mount any secret of the namespace';
  const hasLimit = ({ metadata }: ServiceAccount): boolean => Object.hasOwn(metadata.annotations ?? {}, limit);
  const isLimited = ({ metadata }: ServiceAccount): boolean => TRUE.includes(metadata.annotations?.[limit] ?? '');
  /** Warns of what an account begins to have. */
  const warnOfLimit = (object: ServiceAccount, old: ServiceAccount | undefined, { warn }: StrategyContext): void => {
    const texts = [
      ...(hasLimit(object) && !(old && hasLimit(old)) ? [deprecation] : []),
      ...(isLimited(object) && !(old && isLimited(old)) ? [absence] : []),
    ];
    if (texts.length > 0) warn?.(`${field}: ${texts.join('; ')}`);
  };
  return {
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
