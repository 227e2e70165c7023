/** The library: a server in your test or program, plugins, and embedded resource types. */
export * from './api/index.js';
export type { NamingName } from './naming.js';
export type * from './server/program/types.js';
export { type RunningServer, startServer } from './server/start.js';
export type { GivenSettings, Settings } from './settings/settings.js';
