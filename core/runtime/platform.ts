/** The platform of this process. Native libraries have a binary for each platform. */
import { closeSync, openSync, readSync } from 'node:fs';

/** The loader of a program is named near the beginning of its file. */
const HEAD_BYTES = 4096;

/** The first bytes of a file; none if it cannot be read. */
function headOf(file: string): Buffer {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      return head.subarray(0, readSync(descriptor, head, 0, HEAD_BYTES, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * Whether a program (by default, that of this process) uses musl as its C library, as on Alpine Linux. Binaries for
 * glibc cannot be loaded there; if a compatibility library is installed, loading one can crash the process.
 */
export const usesMusl = (program = process.execPath): boolean =>
  process.platform === 'linux' && headOf(program).includes('/ld-musl-');

/** Platform and version for messages, such as `linux-arm64 (musl), Node.js 24.1.0`. */
export function describePlatform(): string {
  const { platform, arch, versions } = process;
  return `${platform}-${arch}${usesMusl() ? ' (musl)' : ''}, Node.js ${versions.node}`;
}
