/**
 * The path at which a running server serves a snapshot of its store. Authorization (verb get) decides who may read it.
 */
export const SNAPSHOT_PATH = '/store/snapshot';

/**
 * Whether only rules that name a path allow it, and no wildcard. The snapshot holds every object, also the secrets: who
 * monitors a server with `nonResourceURLs: ["*"]` should not read it.
 */
export const isGivenByName = (path: string): boolean => path === SNAPSHOT_PATH;
