import { readFileSync } from 'node:fs';

/** The version in package.json, which is two directories above the source and three above the compiled file. */
export function ownVersion(): string {
  for (const up of ['../../package.json', '../../../package.json']) {
    try {
      const found = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (found.name === 'capstan') return found.version ?? 'unknown';
    } catch {
      // No package.json in this directory.
    }
  }
  return 'unknown';
}
