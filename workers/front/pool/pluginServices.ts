import type { Service } from '../../../core/api/plugin/pluginService.js';
import type { ServiceAnswer, ServiceQuestion, ServiceState } from '../../../core/threads/messages/lifecycle.js';

/** The services of plugins: they run in the main thread, for the plugins of the pool. */
export class Services {
  #services: ReadonlyMap<string, Service> = new Map();
  readonly #states = new Map<string, ServiceState>();

  /** `post` sends a state to all threads of the pool that have begun. */
  constructor(readonly post: (state: ServiceState) => void) {}

  /** The last state of every service, for a thread that begins. */
  get states(): Iterable<ServiceState> {
    return this.#states.values();
  }

  /** Starts all services. Rejects with the error of one of them. */
  async start(services: ReadonlyMap<string, Service>): Promise<void> {
    this.#services = services;
    await Promise.all(Array.from(services.values(), one => one.start(state => this.#publish(one.name, state))));
  }

  /**
   * Answers a question of a thread, by sending the answer with `post`. Never rejects: an error is sent as the answer,
   * including the error that the answer cannot be copied.
   */
  async answer({ id, service, question }: ServiceQuestion, post: (answer: ServiceAnswer) => void): Promise<void> {
    try {
      const found = this.#services.get(service);
      if (!found?.ask) throw new Error(`there is no service ${JSON.stringify(service)}`);
      post({ is: 'answer', id, value: await found.ask(question) });
    } catch (error) {
      post({ is: 'answer', id, error: (error as Error)?.message ?? String(error) });
    }
  }

  /** Throws DataCloneError for a state that cannot be copied: threads that begin later are sent it too. */
  #publish(service: string, state: unknown): void {
    const message: ServiceState = { is: 'state', service, state: structuredClone(state) };
    this.#states.set(service, message);
    this.post(message);
  }
}
