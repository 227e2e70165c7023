/** From this size on, a call of a native function costs less than a copy by V8 to or from shared memory. */
const NATIVE_BYTES = 512;

/**
 * Copies bytes to `at` in `to`, where they must fit. If one side is shared memory, to which other threads might write
 * meanwhile, V8 copies bytes one by one unless both sides are aligned alike: 3.5 KB take 1 µs (`set`). The bytes of
 * objects never change, so a plain copy is safe: `fill` takes 0.25 µs.
 */
export function copyBytes(to: Buffer, at: number, bytes: Uint8Array): void {
  if (bytes.length < NATIVE_BYTES) to.set(bytes, at);
  else to.fill(bytes, at, at + bytes.length);
}
