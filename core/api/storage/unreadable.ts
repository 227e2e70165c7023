/**
 * What a store gives as the value of an object that it has but cannot read, for this reason: its key is not configured,
 * or its bytes were damaged. Readers are told the reason, and the object can be deleted.
 *
 * @example
 * return { key, value: unreadableValue('no key decrypts the value'), created, modified, version };
 */
export const unreadableValue = (reason: string): Uint8Array => Buffer.from(`!${reason}`);
