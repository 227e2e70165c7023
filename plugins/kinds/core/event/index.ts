import type { Event } from '../../../../kinds/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import { type AnyEvent, convertEvent, toCoreForm } from './conversion.js';
import { validateEventUpdate, validateEvent } from './validation.js';
import { type Cell, column, NAME, timeSince, wideColumn } from '../../shared/columns.js';
import { checkSegmentName } from '../../shared/values/names.js';

const eventObject: Cell<Event> = event => {
  const about = event.involvedObject;
  const kind = (about.kind ?? '').toLowerCase();
  const name = about.name ?? '';
  return name === '' ? kind : `${kind}/${name}`;
};

const eventSource: Cell<Event> = event => {
  const { source, reportingComponent, reportingInstance } = toCoreForm(event);
  const component = source.component || reportingComponent;
  const host = source.host || reportingInstance;
  return host === '' ? component : `${component}, ${host}`;
};

/** The time of the first occurrence. */
const firstSeen = (event: Event): string | undefined | null => event.firstTimestamp || event.eventTime;

/** The series of an Event, if it has one, tells its last time and its count. */
const lastSeen: Cell<Event> = event =>
  timeSince(event.series ? event.series.lastObservedTime : event.lastTimestamp || firstSeen(event));

const eventCount: Cell<Event> = event => (event.series ? (event.series.count ?? 0) : event.count || 1);

const COLUMNS: readonly Column<Event>[] = [
  column('Last Seen', lastSeen),
  column('Type', object => object.type ?? ''),
  column('Reason', object => object.reason ?? ''),
  column('Object', eventObject),
  wideColumn('Subobject', event => event.involvedObject.fieldPath ?? ''),
  wideColumn('Source', eventSource),
  column('Message', event => (event.message ?? '').trim()),
  wideColumn('First Seen', event => timeSince(firstSeen(event))),
  wideColumn('Count', eventCount),
  column('Name', object => object.metadata.name ?? '', { format: 'name', wide: true, description: NAME.description }),
];

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

const involvedField =
  (member: (typeof INVOLVED)[number]) =>
  (event: AnyEvent): string =>
    toCoreForm(event).involvedObject[member] ?? '';

const reporterOf = (event: AnyEvent): string => toCoreForm(event).reportingComponent;

const sourceOf = (event: AnyEvent): string => toCoreForm(event).source.component || reporterOf(event);

/** Selectable fields that only the core form has. */
const CORE_FIELD = /^(?:involvedObject\.|reportingComponent$|source$)/;

/** Selectable fields that only the newer form has. */
const NEWER_FIELD = /^(?:regarding\.|reportingController$)/;

/** Event, in the core group and in the group events: two forms of one kind. */
export const event = builtInKind<AnyEvent>('core/events', naming => ({
  checkName: checkSegmentName,
  allowAnyFinalizer: true,
  validatesMetadataLast: true,
  allowCreateOnUpdate: true,
  cannotBeOwner: true,
  selectableFields: new Map<string, (event: AnyEvent) => string>([
    ...INVOLVED.map(member => [`involvedObject.${member}`, involvedField(member)] as const),
    ...INVOLVED.map(member => [`regarding.${member}`, involvedField(member)] as const),
    ['reason', e => e.reason ?? ''],
    ['reportingComponent', reporterOf],
    ['reportingController', reporterOf],
    ['source', sourceOf],
    ['type', e => e.type ?? ''],
  ]),
  isSelectableIn: (field, apiVersion) => !(apiVersion === 'v1' ? NEWER_FIELD : CORE_FIELD).test(field),
  validateCreate: object => validateEvent(object, naming.component('orchestrator-system')),
  validateUpdate: (object, old) => validateEventUpdate(object, old, naming.component('orchestrator-system')),
  convert: (object, apiVersion) => convertEvent(object as AnyEvent, apiVersion),
  columns: COLUMNS,
}));
