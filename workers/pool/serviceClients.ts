import type { ServiceClient } from '../../core/api/host.js';
import type { FromPoolThread, ServiceAnswer, ServiceState } from '../../core/threads/messages/lifecycle.js';
import { type Resolvers, withResolvers } from '../../core/runtime/withResolvers.js';

/** The known state of a service. */
interface Known {
  /** The last state, in a list so that it may be any value; undefined before the first state. */
  last: readonly [state: unknown] | undefined;
  readonly first: Resolvers<unknown>;
}

/** The services of the main thread, as plugins of a pool thread see them. */
export class ServiceClients {
  readonly #known = new Map<string, Known>();
  readonly #asked = new Map<number, Resolvers<unknown>>();
  #nextId = 1;

  constructor(readonly post: (message: FromPoolThread) => void) {}

  /** The client of a service. */
  readonly of = (service: string): ServiceClient => {
    const known = this.#of(service);
    return {
      state: () => (known.last ? known.last[0] : known.first.promise),
      ask: question => {
        const id = this.#nextId++;
        const asked = withResolvers<unknown>();
        this.#asked.set(id, asked);
        this.post({ is: 'ask', id, service, question });
        return asked.promise;
      },
    };
  };

  /** Takes a message of the main thread. */
  take(message: ServiceState | ServiceAnswer): void {
    if (message.is === 'state') {
      const known = this.#of(message.service);
      known.last = [message.state];
      known.first.resolve(message.state);
      return;
    }
    const asked = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (message.error === undefined) asked?.resolve(message.value);
    else asked?.reject(new Error(message.error));
  }

  #of(service: string): Known {
    const known = this.#known.get(service) ?? { last: undefined, first: withResolvers<unknown>() };
    this.#known.set(service, known);
    return known;
  }
}
