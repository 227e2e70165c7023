/**
 * Version of the plugin interface, `major.minor`. A new minor version adds to it; a new major version changes or
 * removes something. docs/reference/api.txt has the whole interface, and CHANGELOG.md its changes.
 *
 * @example
 * if (plugin.apiVersion !== API_VERSION) console.log('built for another version');
 */
export const API_VERSION = '1.0';
