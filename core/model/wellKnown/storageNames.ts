/**
 * The prefix of the storage names of custom kinds. Groups contain no colon, so no custom kind has the storage name of a
 * built-in one of this or a later release.
 */
const CUSTOM = 'custom:';

/**
 * The storage name of a custom kind, whether a program, a plugin or a definition defines it: `custom:`, the group as it
 * is written, and the plural name. It is the same in both namings.
 *
 * @example
 * const orders = host.informer(customStorageName({ group: 'tea.example.com', plural: 'orders' }));
 */
export const customStorageName = ({ group, plural }: { readonly group: string; readonly plural: string }): string =>
  `${CUSTOM}${group}/${plural}`;
