import type { HealthCheck, PostStartHook } from '../../core/api/control.js';
import { type StartCheck, startCheck } from '../../core/services/health/checks.js';
import { withResolvers } from '../../core/runtime/withResolvers.js';

/** A hook with the controllers that have not started yet. */
interface Pending {
  readonly check: StartCheck;
  readonly missing: Set<string>;
}

/** The work of controllers after the start, as health endpoints and the start of the server wait for it. */
export class StartHooks {
  readonly #loaded = startCheck('start-controllers');
  readonly #hooks: readonly Pending[];
  readonly #done = withResolvers<void>();

  constructor(hooks: readonly PostStartHook[]) {
    this.#hooks = hooks.map(({ name, controllers }) => ({ check: startCheck(name), missing: new Set(controllers) }));
    this.#settle();
  }

  /** The checks of the health endpoints, `start-controllers` first. */
  get checks(): readonly HealthCheck[] {
    return [this.#loaded, ...this.#hooks.map(({ check }) => check)].map(({ check }) => check);
  }

  /** Resolves when the controllers of all hooks have started. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /**
   * To be called when the controllers are about to start; `elsewhere`: in another process, which does the work of all
   * hooks.
   */
  loaded(elsewhere: boolean): void {
    this.#loaded.done();
    if (!elsewhere) return;
    for (const { missing } of this.#hooks) missing.clear();
    this.#settle();
  }

  /** To be called when a controller has started. */
  started(controller: string): void {
    for (const { missing } of this.#hooks) missing.delete(controller);
    this.#settle();
  }

  #settle(): void {
    const ended = this.#hooks.filter(({ missing }) => missing.size === 0);
    for (const { check } of ended) check.done();
    if (ended.length === this.#hooks.length) this.#done.resolve();
  }
}
