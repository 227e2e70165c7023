import type {
  PriorityLevelConfigurationSpec,
  LimitedPriorityLevelConfiguration,
  ExemptPriorityLevelConfiguration,
  LimitResponse,
  QueuingConfiguration,
} from '../../../../kinds/flowcontrol/v1.js';
import { isAbsent, isSemanticallyEqual } from '../../../../core/model/record.js';
import {
  forbiddenField,
  invalid,
  notSupported,
  required,
  Verbatim,
  type Violation,
} from '../../../../core/model/refusal.js';
import { validateRange } from '../../shared/violations.js';

/** The largest number of bits of the hash that selects the queues of a flow. */
const MOST_HASH_BITS = 60;

const MOST_QUEUES = 10_000_000;

function validateQueuing(queuing: QueuingConfiguration, field: string): Violation[] {
  const found: Violation[] = [];
  const report = (member: string, value: number, why: string) => found.push(invalid(`${field}.${member}`, value, why));
  const [limit = 0, queues = 0, hand = 0] = (['queueLengthLimit', 'queues', 'handSize'] as const).map(
    member => queuing[member],
  );
  if (limit <= 0) report('queueLengthLimit', limit, 'must be positive');
  if (queues <= 0) report('queues', queues, 'must be positive');
  else if (queues > MOST_QUEUES) report('queues', queues, `must not be greater than ${MOST_QUEUES}`);
  if (hand <= 0) report('handSize', hand, 'must be positive');
  else if (hand > queues) report('handSize', hand, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * hand) > MOST_HASH_BITS)
    report(
      'handSize',
      hand,
      `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${MOST_HASH_BITS}`,
    );
  return found;
}

function validateLimitResponse(response: LimitResponse, field: string): Violation[] {
  const type = response.type;
  const queuing = response.queuing;
  if (type === 'Reject')
    return queuing
      ? [forbiddenField(`${field}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')]
      : [];
  if (type !== 'Queue') return [notSupported(`${field}.type`, type, ['Queue', 'Reject'])];
  return queuing
    ? validateQueuing(queuing, `${field}.queuing`)
    : [required(`${field}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')];
}

/** A level of one of the two types. */
type Level = ExemptPriorityLevelConfiguration | LimitedPriorityLevelConfiguration;

const validateShares = (level: Level, field: string): Violation[] => {
  const shares = level.nominalConcurrencyShares ?? 0;
  return shares < 0 ? [invalid(`${field}.nominalConcurrencyShares`, shares, 'must be a non-negative integer')] : [];
};

const validateLendable = (level: Level, field: string): Violation[] =>
  validateRange(level, 'lendablePercent', `${field}.lendablePercent`, 0, 100);

function validateLimited(limited: LimitedPriorityLevelConfiguration, field: string): Violation[] {
  const borrowing = limited.borrowingLimitPercent ?? 0;
  return [
    ...validateShares(limited, field),
    ...validateLimitResponse(limited.limitResponse, `${field}.limitResponse`),
    ...validateLendable(limited, field),
    ...(borrowing < 0
      ? [invalid(`${field}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer')]
      : []),
  ];
}

function validateByType(spec: PriorityLevelConfigurationSpec, type: string): Violation[] {
  const [limited, exempt] = [spec.limited, spec.exempt];
  if (type === 'Exempt')
    return [
      ...(limited ? [forbiddenField('spec.limited', 'must be nil if the type is not Limited')] : []),
      ...(exempt ? [...validateShares(exempt, 'spec.exempt'), ...validateLendable(exempt, 'spec.exempt')] : []),
    ];
  if (type !== 'Limited') return [notSupported('spec.type', type, ['Exempt', 'Limited'])];
  return [
    ...(exempt ? [forbiddenField('spec.exempt', 'must be nil if the type is Limited')] : []),
    ...(limited
      ? validateLimited(limited, 'spec.limited')
      : [required('spec.limited', 'must not be empty when type is Limited')]),
  ];
}

/** The spec of the level with that name that every server has. */
const CATCH_ALL = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
};

const shown = (spec: PriorityLevelConfigurationSpec): Verbatim => {
  const pointer = (member: 'limited' | 'exempt', type: string): string =>
    `(*flowcontrol.${type})(${isAbsent(spec[member]) ? 'nil' : '0x0'})`;
  return new Verbatim(
    `flowcontrol.PriorityLevelConfigurationSpec{Type:${JSON.stringify(spec.type)}, ` +
      `Limited:${pointer('limited', 'LimitedPriorityLevelConfiguration')}, ` +
      `Exempt:${pointer('exempt', 'ExemptPriorityLevelConfiguration')}}`,
  );
};

function validateMandatory(spec: PriorityLevelConfigurationSpec, name: string): Violation[] {
  if (name === 'exempt' && !isSemanticallyEqual({ ...spec, exempt: undefined }, { type: 'Exempt' }))
    return [invalid('spec', shown(spec), "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value")];
  if (name === 'catch-all' && !isSemanticallyEqual(spec, CATCH_ALL))
    return [invalid('spec', shown(spec), "spec of 'catch-all' must equal the fixed value")];
  return [];
}

/** Violations of the spec of a PriorityLevelConfiguration of that name. */
export function validateLevelSpec(spec: PriorityLevelConfigurationSpec, name: string): Violation[] {
  const type = spec.type;
  return [
    ...((type === 'Exempt') !== (name === 'exempt')
      ? [invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")]
      : []),
    ...validateByType(spec, type),
    ...validateMandatory(spec, name),
  ];
}
