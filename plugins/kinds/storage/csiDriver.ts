import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  isAbsent,
  isSemanticallyEqual,
  numberAt,
  recordAt,
  recordsAt,
  setDefault,
  specOf,
  stringAt,
  stringsAt,
  type UnknownRecord,
} from '../../../core/model/record.js';
import { duplicate, invalid, notSupported, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, booleanCell, type Cell, column, joinedCell, NAME } from '../shared/columns.js';
import { validateEach, validateOneOf } from '../shared/violations.js';
import { setIfAbsent } from '../shared/defaults.js';

const audiences: Cell = driver =>
  recordsAt(driver, 'spec', 'tokenRequests')
    .map(request => stringAt(request, 'audience'))
    .join(',') || '<unset>';

const COLUMNS: readonly Column[] = [
  NAME,
  column('AttachRequired', booleanCell('spec.attachRequired', true), { type: 'boolean' }),
  column('PodInfoOnMount', booleanCell('spec.podInfoOnMount'), { type: 'boolean' }),
  column('StorageCapacity', booleanCell('spec.storageCapacity'), { type: 'boolean' }),
  column('TokenRequests', audiences),
  column('RequiresRepublish', booleanCell('spec.requiresRepublish'), { type: 'boolean' }),
  column('Modes', joinedCell('spec.volumeLifecycleModes', '<none>')),
  AGE,
];

/** The longest lifetime of a token that a driver can ask for, in seconds. */
const LONGEST_LIFETIME = 2 ** 32;

function validateExpiration(request: UnknownRecord, field: string): Violation[] {
  const seconds = numberAt(request, 'expirationSeconds');
  if (seconds === undefined) return [];
  if (seconds < 600) return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
  return seconds > LONGEST_LIFETIME
    ? [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : [];
}

function validateTokenRequests(spec: UnknownRecord): Violation[] {
  const seen = new Set<string>();
  return validateEach(spec, 'tokenRequests', 'spec.tokenRequests', (request, field) => {
    const audience = stringAt(request, 'audience');
    if (seen.has(audience)) return [duplicate(`${field}.audience`, audience)];
    seen.add(audience);
    return validateExpiration(request, `${field}.expirationSeconds`);
  });
}

const MODES = ['Persistent', 'Ephemeral'];

/** Violations of a CSIDriver. */
function validateDriver(object: ApiObject): Violation[] {
  const spec = specOf(object);
  return [
    ...validateOneOf(spec, 'fsGroupPolicy', 'spec.fsGroupPolicy', ['File', 'None', 'ReadWriteOnceWithFSType']),
    ...validateTokenRequests(spec),
    ...stringsAt(spec, 'volumeLifecycleModes')
      .filter(mode => !MODES.includes(mode))
      .map(mode => notSupported('spec.volumeLifecycleModes', mode, MODES)),
  ];
}

const IMMUTABLE = [
  ['attachRequired', 'spec.attachedRequired'],
  ['volumeLifecycleModes', 'spec.volumeLifecycleModes'],
] as const;

const shownModes = (spec: UnknownRecord): Verbatim =>
  new Verbatim(
    `[]storage.VolumeLifecycleMode{${stringsAt(spec, 'volumeLifecycleModes')
      .map(mode => JSON.stringify(mode))
      .join(', ')}}`,
  );

/** Checks that the members which nodes rely on are unchanged. */
function validateUnchanged(object: ApiObject, old: ApiObject): Violation[] {
  const [spec, before] = [specOf(object), specOf(old)];
  return IMMUTABLE.filter(([member]) => !isSemanticallyEqual(spec[member], before[member])).map(([member, field]) =>
    invalid(field, member === 'attachRequired' ? spec[member] : shownModes(spec), 'field is immutable'),
  );
}

/** CSIDriver. The generation counts only changes of mutable fields, and is absent before the first of them. */
export const csiDriver = builtInKind('storage.orchestrator.io/csidrivers', () => ({
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateDriver,
  validateUpdate: (object, old) => [...validateDriver(object), ...validateUnchanged(object, old)],
  applyDefaults: object => {
    const spec = specOf(object);
    setDefault(spec, 'attachRequired', true);
    setDefault(spec, 'podInfoOnMount', false);
    setDefault(spec, 'storageCapacity', false);
    setIfAbsent(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
    setDefault(spec, 'requiresRepublish', false);
    setDefault(spec, 'seLinuxMount', false);
    if (
      isAbsent(spec.volumeLifecycleModes) ||
      (Array.isArray(spec.volumeLifecycleModes) && spec.volumeLifecycleModes.length === 0)
    )
      spec.volumeLifecycleModes = ['Persistent'];
  },
  prepareUpdate: (object, old) => {
    const moved = ['tokenRequests', 'requiresRepublish', 'seLinuxMount'].some(
      member => !isSemanticallyEqual(recordAt(object, 'spec')?.[member], recordAt(old, 'spec')?.[member]),
    );
    if (moved) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  columns: COLUMNS,
}));
