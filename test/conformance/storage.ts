import { describe, test } from 'vitest';
import {
  committed,
  type StorageFixture,
  storageConformance as testsOf,
} from '../../core/testing/conformance/storage.js';

export { committed };

/** Runs the conformance suite of the storage point, which `capstan/testing` exports. `make` creates empty stores. */
export function storageConformance(name: string, make: () => Promise<StorageFixture>): void {
  describe(`storage conformance: ${name}`, () => {
    for (const { name, run } of testsOf(make)) test(name, run);
  });
}
