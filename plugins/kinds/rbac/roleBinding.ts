import type { RoleBinding, Subject } from '../../../kinds/rbac/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { dns1123Subdomain, pathSegment } from '../../../core/model/names.js';
import { isSemanticallyEqual, setDefault } from '../../../core/model/record.js';
import { invalid, notSupported, required, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { twice } from './role.js';
import { AGE, type Cell, column, NAME, wideColumn } from '../shared/columns.js';
import { checkWholeSegmentName } from '../shared/values/names.js';
import { toViolations } from '../shared/violations.js';

const GROUP = 'rbac.authorization.orchestrator.io';

const SUBJECTS = ['ServiceAccount', 'User', 'Group'];

function validateSubject(subject: Subject, namespaced: boolean, group: string, field: string): Violation[] {
  const [kind, name, given] = [subject.kind, subject.name, subject.apiGroup ?? ''];
  const found: Violation[] = name === '' ? [required(`${field}.name`)] : [];
  if (kind === 'ServiceAccount') {
    if (name !== '') found.push(...toViolations(`${field}.name`, name, dns1123Subdomain(name)));
    if (given !== '') found.push(notSupported(`${field}.apiGroup`, given, ['']));
    if (!namespaced && (subject.namespace ?? '') === '') found.push(required(`${field}.namespace`));
  } else if (!SUBJECTS.includes(kind)) found.push(notSupported(`${field}.kind`, kind, SUBJECTS));
  else if (given !== group) found.push(notSupported(`${field}.apiGroup`, given, [group]));
  return found;
}

function validateBinding(object: RoleBinding, namespaced: boolean, group: string): Violation[] {
  const reference = object.roleRef;
  const [given, kind, name] = [reference.apiGroup, reference.kind, reference.name];
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return [
    ...(given === group ? [] : [notSupported('roleRef.apiGroup', given, [group])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [required('roleRef.name')] : toViolations('roleRef.name', name, pathSegment(name))),
    ...(object.subjects ?? []).flatMap((subject, i) => validateSubject(subject, namespaced, group, `subjects[${i}]`)),
  ];
}

const roleRef: Cell<RoleBinding> = binding => `${binding.roleRef.kind}/${binding.roleRef.name}`;

const subjectsCell =
  (kind: string): Cell<RoleBinding> =>
  binding =>
    (binding.subjects ?? [])
      .filter(subject => subject.kind === kind)
      .map(subject => {
        const name = subject.name;
        return kind === 'ServiceAccount' ? `${subject.namespace ?? ''}/${name}` : name;
      })
      .join(', ');

const COLUMNS: readonly Column<RoleBinding>[] = [
  NAME,
  column('Role', roleRef),
  AGE,
  wideColumn('Users', subjectsCell('User')),
  wideColumn('Groups', subjectsCell('Group')),
  wideColumn('ServiceAccounts', subjectsCell('ServiceAccount')),
];

/** The common strategy of RoleBindings (`namespaced`) and ClusterRoleBindings: the role of a binding is immutable. */
export const bindingStrategy = (namespaced: boolean, naming: Naming): Partial<Strategy<RoleBinding>> => {
  const group = naming.group(GROUP);
  return {
    checkName: checkWholeSegmentName,
    revalidatesName: 'first',
    allowCreateOnUpdate: true,
    applyDefaults: object => {
      const reference = object.roleRef;
      if (reference) setDefault(reference, 'apiGroup', group);
      for (const subject of object.subjects ?? []) {
        if (subject.kind === 'User' || subject.kind === 'Group') setDefault(subject, 'apiGroup', group);
      }
    },
    validateCreate: object => validateBinding(object, namespaced, group),
    validateUpdate: (object, old) => [
      ...twice(validateBinding(object, namespaced, group)),
      ...(isSemanticallyEqual(object.roleRef, old.roleRef)
        ? []
        : [invalid('roleRef', object.roleRef, 'cannot change roleRef')]),
    ],
    columns: COLUMNS,
  };
};

/** RoleBinding. */
export const roleBinding = builtInKind<RoleBinding>('rbac.authorization.orchestrator.io/rolebindings', naming =>
  bindingStrategy(true, naming),
);
