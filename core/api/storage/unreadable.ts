/**
 * The value that a store returns for an object that it has but cannot read, for example because its key is not
 * configured or its bytes are damaged. Readers get the reason, and the object can be deleted.
 *
 * @example
 * return { key, value: unreadableValue('no key decrypts the value'), created, modified, version };
 */
export const unreadableValue = (reason: string): Uint8Array => Buffer.from(`!${reason}`);
