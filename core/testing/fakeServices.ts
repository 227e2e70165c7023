import type { ServiceClient } from '../api/host.js';

/** A simulated service of a test. */
export interface FakeService {
  /** Absent: nothing is published yet, and readers of the state wait for a later `setService`. */
  readonly state?: unknown;
  ask?(question: unknown): unknown;
}

/** The services of a fake host, by name. */
export class FakeServices {
  readonly #services = new Map<string, FakeService>();
  readonly #waiting = new Map<string, ((state: unknown) => void)[]>();

  set(name: string, service: FakeService): void {
    this.#services.set(name, service);
    if (service.state === undefined) return;
    for (const resolve of this.#waiting.get(name) ?? []) resolve(service.state);
    this.#waiting.delete(name);
  }

  /** The service, as parts of plugins in the pool use it. Questions and answers are copied, as between threads. */
  client(name: string): ServiceClient {
    return {
      state: () => {
        const state = this.#services.get(name)?.state;
        if (state !== undefined) return state;
        return new Promise(resolve => void this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve]));
      },
      ask: async question => {
        const service = this.#services.get(name);
        if (!service?.ask) throw new Error(`the service ${name} answers no questions`);
        return structuredClone(await service.ask(structuredClone(question)));
      },
    };
  }
}
