import { describe, expect, expectTypeOf, test } from 'vitest';
import type { GivenSettings } from '../../core/index.js';
import { fileKeyOf, readGivenSettings } from '../../core/settings/given.js';
import type { Settings } from '../../core/settings/settings.js';
import { SETTINGS } from '../../core/settings/settingsTable.js';
import { startTestServer } from '../../core/testing/index.js';
import { startServer } from '../server/library.js';

/* The settings that a program passes to `startServer`. */

describe('settings of a program', () => {
  test('may have the names of the configuration file instead of their own', () => {
    const given = { storageBackend: 'memory', securePort: 0, history: 1000, etcdServers: ['a'] } as const;
    expect(readGivenSettings(given)).toEqual({
      storage: 'memory',
      port: 0,
      historyRetention: 1000,
      etcdServers: ['a'],
    });
    for (const [setting, { flag, ...rest }] of Object.entries(SETTINGS)) {
      const value = 'default' in rest ? rest.default : undefined;
      if (value === undefined) continue;
      expect(readGivenSettings({ [fileKeyOf({ flag, setting })]: value })).toEqual({ [setting]: value });
      expect(readGivenSettings({ [setting]: value })).toEqual({ [setting]: value });
    }
  });

  test('that are undefined have their defaults', () => {
    expect(readGivenSettings({ port: undefined, plugins: undefined } as GivenSettings)).toEqual({});
  });

  test.each([
    [{ storageBakend: 'memory' }, 'storageBakend: unknown setting; did you mean storageBackend?'],
    [{ 'secure-port': 0 }, 'secure-port: unknown setting; did you mean securePort?'],
    [{ plugin: [] }, 'plugin: unknown setting; did you mean plugins?'],
    [{ somethingElseAltogether: 1 }, 'somethingElseAltogether: unknown setting; they are named like the flags'],
    [{ port: 1, securePort: 2 }, 'securePort: is the same setting as port: omit one of them'],
    [{ anonymousAuth: 'no' }, 'anonymousAuth: must be true or false, not "no"'],
    [{ storage: 'rocks' }, 'storage: must be rocksdb or memory or etcd, not "rocks"'],
    [{ authorizationMode: ['RBAC', 'ABACUS'] }, 'authorizationMode[1]: must be Node or RBAC'],
    [{ historyRetention: -1 }, 'historyRetention: must be a duration such as 30s or 1m30s, not -1'],
    [{ dataDir: null }, 'dataDir: must be a non-empty text'],
    [{ plugins: { use: 'x' } }, 'plugins: must be a list'],
  ])('that do not exist, or have a wrong value, are refused (%#)', (given, message) => {
    expect(() => readGivenSettings(given as never)).toThrow(message);
  });

  test('have types that check both names', () => {
    expectTypeOf<GivenSettings['securePort']>().toEqualTypeOf<Settings['port'] | undefined>();
    expectTypeOf<GivenSettings['storageBackend']>().toEqualTypeOf<Settings['storage'] | undefined>();
    expectTypeOf<GivenSettings>().not.toHaveProperty('storageBakend');
    expectTypeOf<{ storageBackend: 'rocks' }>().not.toExtend<GivenSettings>();
  });

  test('are read by startServer and startTestServer', async () => {
    await expect(startServer({ storageBakend: 'memory' } as never)).rejects.toThrow('did you mean storageBackend?');
    await expect(startTestServer({ sekurePort: 0 } as never)).rejects.toThrow('did you mean securePort?');
    const server = await startServer({ storageBackend: 'memory', securePort: 0 });
    expect(server.storeName).toBe('memory');
    await server.close();
  });
});
