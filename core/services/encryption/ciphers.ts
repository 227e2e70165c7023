import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { randomBytes } from '../../runtime/random.js';

/**
 * A way to encrypt values with one key. A value that was encrypted under one name cannot be decrypted under another,
 * nor after it was changed.
 */
export interface Cipher {
  encrypt(name: string, value: Uint8Array): Buffer;
  /**
   * Throws an Error if the bytes were not encrypted under this name with this key; a StoreError if the message of the
   * error may be shown.
   */
  decrypt(name: string, bytes: Uint8Array): Uint8Array;
  /** Whether the bytes are encrypted with the key that `encrypt` uses; absent: there is only one key. */
  isCurrent?(bytes: Uint8Array): boolean;
  /** A promise to await before the bytes are decrypted; undefined if they can be decrypted now. */
  prepare?(bytes: Uint8Array): Promise<void> | undefined;
}

const GCM_NONCE = 12;
const GCM_TAG = 16;

/** AES-GCM (NIST SP 800-38D) with a random nonce; the name is its additional data. `key`: 16, 24 or 32 bytes. */
export function aesGcm(key: Buffer): Cipher {
  const algorithm = `aes-${key.length * 8}-gcm` as 'aes-256-gcm';
  return {
    encrypt(name, value) {
      const nonce = randomBytes(GCM_NONCE);
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: GCM_TAG }).setAAD(Buffer.from(name));
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt(name, bytes) {
      if (bytes.length < GCM_NONCE + GCM_TAG) throw new Error('the value is too short');
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, GCM_NONCE), { authTagLength: GCM_TAG });
      decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-GCM_TAG));
      return Buffer.concat([decipher.update(bytes.subarray(GCM_NONCE, -GCM_TAG)), decipher.final()]);
    },
  };
}

const CBC_BLOCK = 16;
const MAC_BYTES = 32;

/**
 * AES-CBC with a random initialization vector, and HMAC-SHA256 over name, vector and result (encrypt-then-MAC, RFC
 * 7366), as CBC alone does not detect changes. `key`: 16, 24 or 32 bytes.
 */
export function aesCbc(key: Buffer): Cipher {
  const algorithm = `aes-${key.length * 8}-cbc`;
  const macKey = createHmac('sha256', key).update('capstan aescbc authentication').digest();
  const macOf = (name: string, bytes: Uint8Array): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(name));
    return createHmac('sha256', macKey).update(length).update(name).update(bytes).digest();
  };
  return {
    encrypt(name, value) {
      const vector = randomBytes(CBC_BLOCK);
      const cipher = createCipheriv(algorithm, key, vector);
      const bytes = Buffer.concat([vector, cipher.update(value), cipher.final()]);
      return Buffer.concat([bytes, macOf(name, bytes)]);
    },
    decrypt(name, all) {
      if (all.length < 2 * CBC_BLOCK + MAC_BYTES) throw new Error('the value is too short');
      const bytes = all.subarray(0, -MAC_BYTES);
      if (!timingSafeEqual(macOf(name, bytes), all.subarray(-MAC_BYTES))) throw new Error('the value was changed');
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, CBC_BLOCK));
      return Buffer.concat([decipher.update(bytes.subarray(CBC_BLOCK)), decipher.final()]);
    },
  };
}

const BOX_NONCE = 24;

/**
 * XSalsa20 and Poly1305, the secretbox of NaCl, with a random nonce. It has no additional data, so each name has a key
 * of its own, which HMAC-SHA256 derives. `key`: 32 bytes.
 */
export function secretBox(key: Buffer): Cipher {
  const keyOf = (name: string): Buffer => createHmac('sha256', key).update('capstan secretbox\0').update(name).digest();
  return {
    encrypt(name, value) {
      const nonce = randomBytes(BOX_NONCE);
      return Buffer.concat([nonce, xsalsa20poly1305(keyOf(name), nonce).encrypt(value)]);
    },
    decrypt(name, bytes) {
      return xsalsa20poly1305(keyOf(name), bytes.subarray(0, BOX_NONCE)).decrypt(bytes.subarray(BOX_NONCE));
    },
  };
}
