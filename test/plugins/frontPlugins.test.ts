import { expect, test } from 'vitest';
import { auditSink, healthCheck } from '../../core/api/index.js';
import { CallCounters } from '../../core/plugin/calls/callCounters.js';
import { Closers } from '../../core/plugin/closers.js';
import type { ThreadData } from '../../core/threads/data.js';
import { threadScope } from '../../core/threads/thread.js';
import { FrontPlugins } from '../../workers/front/frontPlugins.js';
import { partly } from '../support/values.js';

/* Plugins of the front end that replace others while it runs. */

/** A plugin with a part that can be replaced and one that is kept, which records their life cycle in `steps`. */
const steps: string[] = [];
Object.assign(globalThis, { frontPluginSteps: steps });
const module = `
  const part = (point, own) => (version) => ({
    point,
    threads: ['front'],
    make(host) {
      globalThis.frontPluginSteps.push('make ' + point + version);
      host.onClose(() => void globalThis.frontPluginSteps.push('close ' + point + version));
      return own(version);
    },
  });
  const check = part('healthCheck', version => ({ name: 'check' + version, check: () => undefined }));
  const sink = part('auditSink', () => ({ write: () => undefined }));
  export default { name: 'parts', parse: config => config, contribute: ({ version }) => [check(version), sink(version)] };`;

const data = (version: number): ThreadData =>
  partly<ThreadData>({
    naming: 'neutral',
    plugins: [{ use: `data:text/javascript,${encodeURIComponent(module)}`, path: 'plugins[0]', config: { version } }],
    calls: CallCounters.memory(1),
    verbosity: 0,
  });

test('plugins that replace others do not affect the parts that a server keeps', async () => {
  const closers = new Closers();
  const scope = threadScope(data(1), 'front', 'test', closers);
  const plugins = await FrontPlugins.load(scope, {});
  const sinks = plugins.at(auditSink);
  expect(steps.splice(0)).toEqual(['make healthCheck1', 'make auditSink1']);
  const next = await plugins.prepare(data(2));
  expect(plugins.at(healthCheck)).toMatchObject([{ name: 'check1' }]);
  const release = next.use();
  expect(plugins.at(healthCheck)).toMatchObject([{ name: 'check2' }]);
  expect(plugins.at(auditSink)).toBe(sinks);
  // Requests that began before continue with the former plugins.
  expect(steps.splice(0)).toEqual(['make healthCheck2']);
  await release();
  expect(steps.splice(0)).toEqual(['close healthCheck1']);
  (await plugins.prepare(data(3))).use();
  steps.splice(0);
  await closers.closeAll(scope.log);
  expect(steps).toEqual(['close healthCheck3', 'close healthCheck2', 'close auditSink1']);
});
