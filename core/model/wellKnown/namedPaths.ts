/**
 * The path at which a running server serves a snapshot of its store. Authorization (verb get) decides who may read it.
 */
export const SNAPSHOT_PATH = '/store/snapshot';

/**
 * Whether a path is allowed only by rules that name it, not by wildcards. The snapshot contains every object, including
 * secrets: monitoring with `nonResourceURLs: ["*"]` should not be able to read it.
 */
export const isGivenByName = (path: string): boolean => path === SNAPSHOT_PATH;
