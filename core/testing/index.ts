/** Helpers to test plugins: a server, a fake host, and the conformance suites of the extension points. */
export * from './conformance/access.js';
export {
  type MutatorCase,
  mutatorConformance,
  type ValidatorCase,
  validatorConformance,
} from './conformance/admission.js';
export * from './conformance/audit.js';
export * from './conformance/control.js';
export {
  type ResourceSample,
  type ResourceSourceCase,
  resourceSourceConformance,
  type ResourceTypeCase,
  resourceTypeConformance,
} from './conformance/resource.js';
export { type ServiceCase, serviceConformance } from './conformance/pluginService.js';
export * from './conformance/services.js';
export { change, received, type ReceivedSample, target, user } from './conformance/samples.js';
export { type ListenerCase, type ListenerTls, listenerConformance } from './conformance/listener.js';
export { committed, type StorageFixture, storageConformance } from './conformance/storage.js';
export type { FakeService } from './fakeServices.js';
export * from './host.js';
export { serveObjects } from './objectServer.js';
export * from './server.js';
export type { ConformanceTest } from './suite.js';
