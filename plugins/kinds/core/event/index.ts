import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { numberAt, recordAt, stringAt, valueAt } from '../../../../core/model/record.js';
import { convertEvent } from './conversion.js';
import { validateEventUpdate, validateEvent } from './validation.js';
import { type Cell, column, NAME, stringCell, timeSince, wideColumn } from '../../shared/columns.js';
import { checkSegmentName } from '../../shared/names.js';

const eventObject: Cell = event => {
  const about = valueAt(event, 'involvedObject') ?? valueAt(event, 'regarding');
  const kind = stringAt(about, 'kind').toLowerCase();
  const name = stringAt(about, 'name');
  return name === '' ? kind : `${kind}/${name}`;
};

const eventSource: Cell = event => {
  const source = valueAt(event, 'source') ?? valueAt(event, 'deprecatedSource');
  const component =
    stringAt(source, 'component') || stringAt(event, 'reportingComponent') || stringAt(event, 'reportingController');
  const host = stringAt(source, 'host') || stringAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
};

const firstOf = (event: unknown, ...names: readonly string[]): unknown =>
  names.map(name => valueAt(event, name)).find(value => value !== undefined && value !== null && value !== '');

/** The series of an Event, whose count and time take precedence over those of the Event. */
const seriesOf = (event: unknown): unknown => valueAt(event, 'series') ?? undefined;

const lastSeen: Cell = event =>
  timeSince(
    seriesOf(event) === undefined
      ? firstOf(
          event,
          'lastTimestamp',
          'deprecatedLastTimestamp',
          'firstTimestamp',
          'deprecatedFirstTimestamp',
          'eventTime',
        )
      : valueAt(event, 'series', 'lastObservedTime'),
  );

const eventCount: Cell = event =>
  seriesOf(event) === undefined
    ? (numberAt(firstOf(event, 'count', 'deprecatedCount')) ?? 0) || 1
    : (numberAt(event, 'series', 'count') ?? 0);

const COLUMNS: readonly Column[] = [
  column('Last Seen', lastSeen),
  column('Type', stringCell('type')),
  column('Reason', stringCell('reason')),
  column('Object', eventObject),
  wideColumn('Subobject', event =>
    stringAt(valueAt(event, 'involvedObject', 'fieldPath') ?? valueAt(event, 'regarding', 'fieldPath')),
  ),
  wideColumn('Source', eventSource),
  column('Message', event => stringAt(firstOf(event, 'message', 'note')).trim()),
  wideColumn('First Seen', event =>
    timeSince(firstOf(event, 'firstTimestamp', 'deprecatedFirstTimestamp', 'eventTime')),
  ),
  wideColumn('Count', eventCount),
  column('Name', stringCell('metadata.name'), { format: 'name', wide: true, description: NAME.description }),
];

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

const involvedField =
  (member: string) =>
  (event: ApiObject): string =>
    stringAt(recordAt(event, 'involvedObject') ?? recordAt(event, 'regarding'), member);

const reporterOf = (event: ApiObject): string =>
  stringAt(event, 'reportingComponent') || stringAt(event, 'reportingController');

/** Selectable fields that only the core form has. */
const CORE_FIELD = /^(?:involvedObject\.|reportingComponent$|source$)/;

/** Selectable fields that only the newer form has. */
const NEWER_FIELD = /^(?:regarding\.|reportingController$)/;

/** Event, in the core group and in the group events: two forms of one kind. */
export const event = builtInKind('core/events', naming => ({
  checkName: checkSegmentName,
  allowAnyFinalizer: true,
  validatesMetadataLast: true,
  allowCreateOnUpdate: true,
  cannotBeOwner: true,
  selectableFields: new Map<string, (event: ApiObject) => string>([
    ...INVOLVED.map(member => [`involvedObject.${member}`, involvedField(member)] as const),
    ...INVOLVED.map(member => [`regarding.${member}`, involvedField(member)] as const),
    ['reason', e => stringAt(e, 'reason')],
    ['reportingComponent', reporterOf],
    ['reportingController', reporterOf],
    ['source', e => stringAt(recordAt(e, 'source') ?? recordAt(e, 'deprecatedSource'), 'component') || reporterOf(e)],
    ['type', e => stringAt(e, 'type')],
  ]),
  isSelectableIn: (field, apiVersion) => !(apiVersion === 'v1' ? NEWER_FIELD : CORE_FIELD).test(field),
  validateCreate: object => validateEvent(object, naming.component('orchestrator-system')),
  validateUpdate: (object, old) => validateEventUpdate(object, old, naming.component('orchestrator-system')),
  convert: convertEvent,
  columns: COLUMNS,
}));
