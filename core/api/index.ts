/** The plugin interface: everything that plugins may import. */
export * from './access.js';
export * from './admission.js';
export * from './control.js';
export * from './conversion.js';
export * from './defineResource.js';
export * from './document.js';
export * from './host.js';
export * from './listener.js';
export * from './match.js';
export * from './point.js';
export * from './plugin.js';
export * from './resource.js';
export type { ResourceName } from './resourceName.js';
export * from './schema.js';
export * from './strategy.js';
export {
  Compacted,
  FutureRevision,
  lostData,
  type Outcome,
  type Page,
  type RangeOptions,
  type Shared,
  type Storage,
  StoreError,
  type Stored,
  type StoreEvent,
  type Transaction,
  type Operation as StoreOperation,
  storage,
  Unavailable,
} from './storage.js';
export * from './tokens.js';
export * from './typedSchema.js';
export * from './version.js';
export {
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelValue,
  pathSegment,
  maskTrailingDash,
  qualifiedName,
} from '../model/names.js';
export type { Age, CellValue } from '../model/age.js';
export { readJson, writeJson } from '../model/jsonText.js';
export * from '../model/object.js';
export * from '../model/record.js';
export * from '../model/refusal.js';
export { customStorageName } from '../model/storageNames.js';
export type { Requirement, Selector } from '../model/selector.js';
export * from '../model/target.js';
export * from '../model/user.js';
export type { Naming } from '../naming.js';
