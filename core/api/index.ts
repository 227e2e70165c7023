/** The plugin interface: everything that plugins may import. */
export * from './access.js';
export * from './admission.js';
export * from './client/client.js';
export * from './client/reference.js';
export * from './control.js';
export * from './controller/conditions.js';
export { ownerReference } from './controller/owners.js';
export * from './controller/reconciler.js';
export type * from './controller/types.js';
export * from './resource/conversion.js';
export * from './resource/defineResource.js';
export * from './document.js';
export * from './host.js';
export * from './listener.js';
export * from './observe/audit.js';
export type * from './observe/decisions.js';
export type {
  ExplainedOpinion,
  Explanation,
  NearRule,
  Opinion,
  UserRules,
} from './observe/explain.js';
export * from './observe/metrics.js';
export * from './checks/match.js';
export * from './point.js';
export * from './plugin.js';
export * from './resource.js';
export { type HttpSite, httpSite, type SiteAnswer, type SiteRequest, type Sites } from './site.js';
export * from './plugin/pluginService.js';
export * from './plugin/schema.js';
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
  unreadableValue,
} from './storage.js';
export * from './tokens.js';
export * from './resource/typedSchema.js';
export * from './plugin/version.js';
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
export { readJson, writeJson } from '../model/text/jsonText.js';
export * from '../model/object.js';
export * from '../model/record.js';
export * from '../model/refusal.js';
export { customStorageName } from '../model/wellKnown/storageNames.js';
export type { Requirement, Selector } from '../model/selectors/selector.js';
export * from '../model/target.js';
export * from '../model/user.js';
export type { Naming } from '../naming.js';
