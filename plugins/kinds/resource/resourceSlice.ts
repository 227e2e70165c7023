import type { Device as AlphaDevice, ResourceSlice as AlphaSlice } from '../../../kinds/resource/v1alpha3.js';
import type { Device, ResourceSlice } from '../../../kinds/resource/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { isRecord } from '../../../core/model/record.js';
import { AGE, column, NAME } from '../shared/columns.js';

const COLUMNS: readonly Column<ResourceSlice>[] = [
  NAME,
  column('Node', object => object.spec.nodeName ?? ''),
  column('Driver', object => object.spec.driver),
  column('Pool', object => object.spec.pool.name),
  AGE,
];

/** The capacities of a device in another form. */
function convertCapacity<From extends Device | AlphaDevice>(
  device: From,
  convert: (amount: unknown) => unknown,
): object {
  const { basic } = device;
  if (!basic?.capacity) return device;
  const amounts = Object.entries(basic.capacity).map(([name, amount]) => [name, convert(amount)] as const);
  return { ...device, basic: { ...basic, capacity: Object.fromEntries(amounts) } };
}

/** Capacities are amounts in v1alpha3, and objects with an amount since v1beta1. */
function convertSlice(slice: ResourceSlice | AlphaSlice, apiVersion: string): ResourceSlice | AlphaSlice {
  const toAmount = (amount: unknown): unknown => (isRecord(amount) ? amount['value'] : amount);
  const toObject = (amount: unknown): unknown => (isRecord(amount) ? amount : { value: amount });
  const convert = apiVersion.endsWith('/v1alpha3') ? toAmount : toObject;
  const devices = slice.spec.devices?.map(device => convertCapacity(device, convert));
  const spec = devices ? { ...slice.spec, devices } : slice.spec;
  return { ...slice, apiVersion, spec } as ResourceSlice | AlphaSlice;
}

/** ResourceSlice. */
export const resourceSlice = builtInKind<ResourceSlice>('resource.orchestrator.io/resourceslices', () => ({
  returnsDeletedObject: true,
  hasGeneration: true,
  selectableFields: new Map([
    ['spec.nodeName', object => object.spec.nodeName ?? ''],
    ['spec.driver', object => object.spec.driver],
  ]),
  convert: (object, apiVersion) => convertSlice(object as ResourceSlice | AlphaSlice, apiVersion),
  columns: COLUMNS,
}));
