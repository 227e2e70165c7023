/**
 * Version of the plugin interface, `major.minor`. A new minor version adds to the interface of the last release; a new
 * major version changes or removes something. It is 1.0 until the first release. docs/reference/api.txt has the whole
 * interface, CHANGELOG.md its changes, and `npm run api` checks the version.
 *
 * @example
 * if (plugin.apiVersion !== API_VERSION) console.log('built for another version');
 */
export const API_VERSION = '1.0';
