import { describe, expectTypeOf, test } from 'vitest';
import {
  type authenticator,
  type controller,
  definePoint,
  healthCheck,
  type Host,
  type resourceType,
  type storage,
} from '../../core/api/index.js';

/* The members of a host depend on the thread; the compiler checks this (`npm run typecheck`). */

type HostOf<P> = P extends { of(make: (host: infer H) => unknown): unknown } ? H : never;

describe('the host', () => {
  test('has informers in the pool and for controllers, where all threads of a point offer them', () => {
    expectTypeOf<HostOf<typeof authenticator>>().toHaveProperty('informer');
    expectTypeOf<HostOf<typeof controller>>().toHaveProperty('informer');
    expectTypeOf<HostOf<typeof healthCheck>>().not.toHaveProperty('informer');
    expectTypeOf<HostOf<typeof storage>>().not.toHaveProperty('informer');
    // A plugin of the front end and the pool.
    expectTypeOf<HostOf<typeof resourceType>>().not.toHaveProperty('informer');
  });

  test('has requests and events only for controllers', () => {
    for (const member of ['request', 'watch'] as const) {
      expectTypeOf<HostOf<typeof controller>>().toHaveProperty(member);
      expectTypeOf<HostOf<typeof authenticator>>().not.toHaveProperty(member);
      expectTypeOf<Host>().not.toHaveProperty(member);
    }
  });

  test('of an own point of a plugin depends on its threads', () => {
    const both = definePoint<string>()('test/both', ['pool', 'control'], all => all.length);
    both.of(host => {
      expectTypeOf(host).toHaveProperty('informer');
      // @ts-expect-error: the pool cannot make requests.
      host.request?.('x', { method: 'GET', path: '/' });
      expectTypeOf(host.at(both)).toEqualTypeOf<number>();
      return host.thread;
    });
    healthCheck.of(host => {
      // @ts-expect-error: there are no informers in the front end.
      host.informer?.('core/namespaces');
      return { name: 'x', of: [], check: () => undefined };
    });
  });
});
