import type { CSIDriver, CSIDriverSpec, TokenRequest } from '../../../kinds/storage/v1.js';
import { toNumber } from '../../../core/model/scalars.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { isAbsent, isSemanticallyEqual, setDefault } from '../../../core/model/record.js';
import { duplicate, invalid, notSupported, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, type Cell, column, NAME } from '../shared/columns.js';
import { validateEach, validateOneOf } from '../shared/violations.js';
import { setIfAbsent } from '../shared/values/defaults.js';

const audiences: Cell<CSIDriver> = driver =>
  (driver.spec.tokenRequests ?? []).map(request => request.audience).join(',') || '<unset>';

const COLUMNS: readonly Column<CSIDriver>[] = [
  NAME,
  column('AttachRequired', object => object.spec.attachRequired ?? true, { type: 'boolean' }),
  column('PodInfoOnMount', object => object.spec.podInfoOnMount ?? false, { type: 'boolean' }),
  column('StorageCapacity', object => object.spec.storageCapacity ?? false, { type: 'boolean' }),
  column('TokenRequests', audiences),
  column('RequiresRepublish', object => object.spec.requiresRepublish ?? false, { type: 'boolean' }),
  column('Modes', object => (object.spec.volumeLifecycleModes ?? []).join(',') || '<none>'),
  AGE,
];

/** The longest lifetime of a token that a driver can ask for, in seconds. */
const LONGEST_LIFETIME = 2 ** 32;

function validateExpiration(request: TokenRequest, field: string): Violation[] {
  const seconds = toNumber(request.expirationSeconds);
  if (seconds === undefined) return [];
  if (seconds < 600) return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
  return seconds > LONGEST_LIFETIME
    ? [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : [];
}

function validateTokenRequests(spec: CSIDriverSpec): Violation[] {
  const seen = new Set<string>();
  return validateEach(spec, 'tokenRequests', 'spec.tokenRequests', (request, field) => {
    const audience = request.audience;
    if (seen.has(audience)) return [duplicate(`${field}.audience`, audience)];
    seen.add(audience);
    return validateExpiration(request, `${field}.expirationSeconds`);
  });
}

const MODES = ['Persistent', 'Ephemeral'];

/** Violations of a CSIDriver. */
function validateDriver(object: CSIDriver): Violation[] {
  const spec = object.spec;
  return [
    ...validateOneOf(spec, 'fsGroupPolicy', 'spec.fsGroupPolicy', ['File', 'None', 'ReadWriteOnceWithFSType']),
    ...validateTokenRequests(spec),
    ...(spec.volumeLifecycleModes ?? [])
      .filter(mode => !MODES.includes(mode))
      .map(mode => notSupported('spec.volumeLifecycleModes', mode, MODES)),
  ];
}

const IMMUTABLE = [
  ['attachRequired', 'spec.attachedRequired'],
  ['volumeLifecycleModes', 'spec.volumeLifecycleModes'],
] as const;

const shownModes = (spec: CSIDriverSpec): Verbatim =>
  new Verbatim(
    `[]storage.VolumeLifecycleMode{${(spec.volumeLifecycleModes ?? []).map(mode => JSON.stringify(mode)).join(', ')}}`,
  );

/** Checks that the members which nodes rely on are unchanged. */
function validateUnchanged(object: CSIDriver, old: CSIDriver): Violation[] {
  const [spec, before] = [object.spec, old.spec];
  return IMMUTABLE.filter(([member]) => !isSemanticallyEqual(spec[member], before[member])).map(([member, field]) =>
    invalid(field, member === 'attachRequired' ? spec[member] : shownModes(spec), 'field is immutable'),
  );
}

/** CSIDriver. The generation counts only changes of mutable fields, and is absent before the first of them. */
export const csiDriver = builtInKind<CSIDriver>('storage.orchestrator.io/csidrivers', () => ({
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateDriver,
  validateUpdate: (object, old) => [...validateDriver(object), ...validateUnchanged(object, old)],
  applyDefaults: object => {
    const spec = object.spec;
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
    const moved = (['tokenRequests', 'requiresRepublish', 'seLinuxMount'] as const).some(
      member => !isSemanticallyEqual(object.spec[member], old.spec[member]),
    );
    if (moved) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  columns: COLUMNS,
}));
