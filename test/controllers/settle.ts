import { type Controller, controller as point, type Plugin } from '../../core/api/index.js';
import type { FakeServer } from './fakeHost.js';

/** Creates the controllers of a plugin and starts them. */
export async function startControllers<C>(server: FakeServer, plugin: Plugin<C>, config: unknown): Promise<void> {
  for (const contribution of plugin.contribute(plugin.parse(config))) {
    if (contribution.point !== point.name) continue;
    const controller = (await contribution.make(server.host)) as Controller;
    await controller.start();
  }
}

/** Waits until all events are delivered, and until an idle controller would have had time for a request. */
export async function waitForIdle(server: FakeServer): Promise<void> {
  for (let i = 0; i < 50; i++) {
    await server.delivered();
    await new Promise(resolve => setImmediate(resolve));
  }
}
