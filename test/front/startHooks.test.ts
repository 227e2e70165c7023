import { describe, expect, test } from 'vitest';
import { StartHooks } from '../../workers/front/startHooks.js';

/** The names of the checks that fail. */
const failing = (hooks: StartHooks): string[] =>
  hooks.checks
    .filter(({ check }) => {
      try {
        return check() !== undefined;
      } catch {
        return true;
      }
    })
    .map(({ name }) => name);
const isDone = async (hooks: StartHooks): Promise<boolean> =>
  await Promise.race([hooks.done.then(() => true), new Promise<false>(resolve => setImmediate(resolve, false))]);

const HOOKS = [
  { name: 'roles', controllers: ['bootstrap'] },
  { name: 'prices', controllers: ['prices', 'taxes'] },
];

describe('post-start hooks', () => {
  test('fail until all of their controllers have started', async () => {
    const hooks = new StartHooks(HOOKS);
    const all = ['poststarthook/start-controllers', 'poststarthook/roles', 'poststarthook/prices'];
    expect(failing(hooks)).toEqual(all);
    hooks.loaded(false);
    expect(failing(hooks)).toEqual(all.slice(1));
    hooks.started('prices');
    hooks.started('other');
    expect(failing(hooks)).toEqual(all.slice(1));
    hooks.started('taxes');
    expect([failing(hooks), await isDone(hooks)]).toEqual([['poststarthook/roles'], false]);
    hooks.started('bootstrap');
    expect([failing(hooks), await isDone(hooks)]).toEqual([[], true]);
  });

  test('are done if another process runs the controllers', async () => {
    const hooks = new StartHooks(HOOKS);
    hooks.loaded(true);
    expect([failing(hooks), await isDone(hooks)]).toEqual([[], true]);
  });

  test('are done if there are no controllers', async () => {
    expect(await isDone(new StartHooks([]))).toBe(true);
  });
});
