/**
 * Version of the plugin interface, `major.minor`: a new minor version adds to it, a new major version changes or removes
 * something. What it contains is in docs/reference/api.txt, what changed in CHANGELOG.md.
 *
 * @example
 * if (plugin.apiVersion !== API_VERSION) console.log('built for another version');
 */
export const API_VERSION = '1.0';
