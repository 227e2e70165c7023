import { describe, expect, test } from 'vitest';
import { checkControllers, isControllerEnabled } from '../../core/server/controllers.js';
import { DEFAULTS } from '../../core/server/settings.js';

const runs = (name: string, controllers?: readonly string[], enableBootstrapTokenAuth = false): boolean =>
  isControllerEnabled(`${name}-controller`, { controllers, enableBootstrapTokenAuth });
const check =
  (...controllers: string[]) =>
  () =>
    checkControllers({ ...DEFAULTS, naming: 'kubernetes', controllers });

describe('--controllers', () => {
  test('runs controllers that it names, those of * unless excluded with -, and the first mention of a name counts', () => {
    expect(runs('namespace', ['*'])).toBe(true);
    expect(runs('namespace', ['*', '-namespace-controller'])).toBe(false);
    expect(runs('namespace', ['serviceaccount-controller'])).toBe(false);
    expect(runs('namespace', ['namespace-controller', '-namespace-controller'])).toBe(true);
    expect(runs('namespace', ['-serviceaccount-controller'])).toBe(false);
  });

  test('knows the former names of controllers', () => {
    expect(runs('token-cleaner', ['tokencleaner'])).toBe(true);
    expect(runs('garbage-collector', ['*', '-garbagecollector'])).toBe(false);
  });

  test('runs controllers of bootstrap tokens only if they are named, or if it is absent and the tokens are accepted [A189]', () => {
    for (const name of ['token-cleaner', 'bootstrap-signer']) {
      expect([name, runs(name), runs(name, ['*']), runs(name, ['*'], true)]).toEqual([name, false, false, false]);
      expect([name, runs(name, ['*', `${name}-controller`]), runs(name, undefined, true)]).toEqual([name, true, true]);
    }
  });

  test('with an unknown name fails the start with the message of upstream; controllers of other servers are known', () => {
    expect(check('*', 'nodeipam', '-cronjob-controller')).not.toThrow();
    expect(check('x')).toThrow('"x" is not in the list of known controllers');
    expect(check('*', 'x', '-y')).toThrow(
      '["x" is not in the list of known controllers, "y" is not in the list of known controllers]',
    );
  });
});
