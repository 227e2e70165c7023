import type { IngressClass, IngressClassParametersReference } from '../../../kinds/networking/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { dns1123Label, dns1123Subdomain } from '../../../core/model/names.js';
import { isAbsent } from '../../../core/model/record.js';
import {
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooLong,
  type Violation,
} from '../../../core/model/refusal.js';
import { AGE, type Cell, column, NAME } from '../shared/columns.js';
import { validateTypedReference } from '../shared/references.js';
import { toViolations, validateImmutable, validateText } from '../shared/violations.js';

const classParameters: Cell<IngressClass> = object => {
  const parameters = object.spec.parameters;
  if (parameters === undefined || parameters === null) return '<none>';
  const group = parameters.apiGroup ?? '';
  return `${parameters.kind}${group ? `.${group}` : ''}/${parameters.name}`;
};

const COLUMNS: readonly Column<IngressClass>[] = [
  NAME,
  column('Controller', object => object.spec.controller ?? ''),
  column('Parameters', classParameters),
  AGE,
];

const LONGEST_CONTROLLER = 250;

const PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

const hasOnlyPathCharacters = (path: string): boolean => new RegExp(`^${PATH}$`).test(path);

function validateController(controller: string): Violation[] {
  const field = 'spec.controller';
  if (controller === '') return [required(field)];
  const found: Violation[] = [];
  if (Buffer.byteLength(controller) > LONGEST_CONTROLLER) found.push(tooLong(field, LONGEST_CONTROLLER));
  const slash = controller.indexOf('/');
  const [domain, path] = [controller.slice(0, Math.max(slash, 0)), controller.slice(slash + 1)];
  if (domain === '' || path === '')
    return [...found, invalid(field, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  found.push(...toViolations(field, domain, dns1123Subdomain(domain)));
  if (!hasOnlyPathCharacters(path))
    found.push(invalid(field, path, `Invalid path (regex used for validation is '${PATH}')`));
  return found;
}

const SCOPES = ['Cluster', 'Namespace'];

function validateScope(parameters: IngressClassParametersReference): Violation[] {
  const { scope, namespace } = parameters;
  const field = 'spec.parameters.namespace';
  if (!SCOPES.includes(String(scope))) return [notSupported('spec.parameters.scope', scope, SCOPES)];
  if (scope === 'Namespace')
    return isAbsent(namespace)
      ? [required(field, "`parameters.scope` is set to 'Namespace'")]
      : validateText(parameters, 'namespace', field, dns1123Label);
  return isAbsent(namespace) ? [] : [forbiddenField(field, "`parameters.scope` is set to 'Cluster'")];
}

/** Violations of an IngressClass. */
function validateIngressClass(object: IngressClass): Violation[] {
  const parameters = object.spec.parameters;
  return [
    ...validateController(object.spec.controller ?? ''),
    ...(parameters ? [...validateTypedReference(parameters, 'spec.parameters'), ...validateScope(parameters)] : []),
  ];
}

/** IngressClass. Its controller is immutable. */
export const ingressClass = builtInKind<IngressClass>('networking.orchestrator.io/ingressclasses', () => ({
  revalidatesName: true,
  hasGeneration: true,
  validateCreate: validateIngressClass,
  validateUpdate: (object, old) => [
    ...validateImmutable(object.spec, old.spec, 'controller', 'spec.controller'),
    ...validateIngressClass(object),
  ],
  applyDefaults: object => {
    const parameters = object.spec.parameters;
    if (parameters && isAbsent(parameters.scope)) parameters.scope = 'Cluster';
  },
  columns: COLUMNS,
}));
