/** Base64. */
import { withoutTrailing } from '../../model/text/trailing.js';
import { declareGlobal } from '../check/declarations.js';
import type { Library } from '../library.js';
import { fail, type Value } from '../evaluate/values.js';

/** Decodes standard base64, with or without padding; `undefined` when malformed. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || withoutTrailing(text, '=').length % 4 === 1) return undefined;
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/** `base64.encode` and `base64.decode`. */
export const ENCODERS: Library = {
  name: 'encoders',
  functions: [
    declareGlobal('base64.encode(bytes): string', (v, _b, _c, m) => {
      m.traverse((v as Uint8Array).length);
      return Buffer.from(v as Uint8Array).toString('base64');
    }),
    declareGlobal('base64.decode(string): bytes', (v: Value, _b, _c, m) => {
      m.traverse((v as string).length);
      return decodeBase64(v as string) ?? fail('illegal base64 data');
    }),
  ],
};
