import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describePlatform, usesMusl } from '../../core/runtime/platform.js';

const program = (loader: string): string => {
  const file = join(mkdtempSync(join(tmpdir(), 'capstan-program-')), 'program');
  writeFileSync(file, `\x7fELF${'\0'.repeat(600)}${loader}\0GNU\0${'\0'.repeat(10_000)}`);
  return file;
};

describe('the platform', () => {
  it('is described with the version of Node.js', () => {
    const { platform, arch, versions } = process;
    expect(describePlatform().replace(' (musl)', '')).toBe(`${platform}-${arch}, Node.js ${versions.node}`);
  });

  it.runIf(process.platform === 'linux')('uses musl if the program names its dynamic loader', () => {
    expect(usesMusl(program('/lib/ld-musl-aarch64.so.1'))).toBe(true);
    expect(usesMusl(program('/lib64/ld-linux-x86-64.so.2'))).toBe(false);
    expect(usesMusl('/no/such/program')).toBe(false);
  });
});
