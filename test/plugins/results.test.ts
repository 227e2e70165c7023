import { describe, expect, test } from 'vitest';
import {
  type ApiObject,
  type CustomStrategy,
  defineResource,
  httpDocuments,
  PluginFailure,
  type Point,
  resourceSource,
  resourceType,
  type StrategyContext,
  type Thread,
  tokenIssuer,
} from '../../core/api/index.js';
import { callerOf } from '../../core/plugin/calls/calls.js';

/* Parts whose functions throw, never answer, or return values that their points do not accept. */

const failures: string[] = [];
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** The combination of a single part, as in a server, with a time limit of 50 ms. */
function combined<T extends Thread, In, Out>(point: Point<T, In, Out>, value: In): Out {
  failures.splice(0);
  const counters = { countCall: () => undefined, countFailure: (kind: string) => void failures.push(kind) };
  const call = callerOf({ plugin: 'p', point: point.name, timeout: 50, log: silent, counters });
  return point.combine([{ plugin: 'p', value, failurePolicy: 'Fail', call }]);
}
const never = (): never => new Promise(() => undefined) as never;
const fails = (): never => {
  throw new Error('x');
};

describe('a document', () => {
  test.each<[string, () => never, string]>([
    ['is not a string', () => 7 as never, 'error'],
    ['throws', fails, 'error'],
    ['never comes', never, 'timeout'],
  ])('whose body %s is a failure of the plugin', async (_name, body, kind) => {
    const made = combined(httpDocuments, [{ path: '/a', contentType: 'text/plain', headers: {}, body }]);
    await expect((async () => made.get('/a')!.body({ port: 0 }))()).rejects.toThrow(PluginFailure);
    expect(failures).toEqual([kind]);
  });
});

describe('a token issuer', () => {
  test.each<[string, () => never, string]>([
    ['returns no string', () => ({}) as never, 'error'],
    ['returns an empty token', () => '' as never, 'error'],
    ['throws', fails, 'error'],
    ['never answers', never, 'timeout'],
  ])('that %s is a failure of the plugin', async (_name, issue, kind) => {
    const issuer = combined(tokenIssuer, { audiences: ['a'], extend: false, issue, issueLegacy: issue })!;
    await expect(issuer.issue({} as never)).rejects.toThrow(PluginFailure);
    await expect(issuer.issueLegacy({} as never)).rejects.toThrow(PluginFailure);
    expect(failures).toEqual([kind, kind]);
  });
});

test('a source of resource types that throws, or answers asynchronously, is a failure of the plugin', () => {
  for (const define of [fails, () => Promise.resolve(undefined) as never]) {
    const [source] = combined(resourceSource, { storageName: 'a/b', define });
    expect(() => source!.define({} as ApiObject)).toThrow(PluginFailure);
    expect(failures).toEqual(['error']);
  }
});

describe('a strategy', () => {
  const object: ApiObject = { apiVersion: 'tea.example.com/v1', kind: 'Tea', metadata: { name: 'a' } };
  const names = { group: 'tea.example.com', kind: 'Tea', plural: 'teas', scope: 'Namespaced' } as const;
  const strategyOf = (strategy: object): CustomStrategy =>
    combined(resourceType, defineResource({ ...names, strategy: strategy as CustomStrategy })).custom[0]!.strategy!;
  const context = {} as StrategyContext;

  test.each<[string, object, (strategy: CustomStrategy) => unknown]>([
    ['applyDefaults throws', { applyDefaults: fails }, s => s.applyDefaults?.(object)],
    ['applyDefaults is asynchronous', { applyDefaults: async () => undefined }, s => s.applyDefaults?.(object)],
    ['validateCreate returns nothing', { validateCreate: () => undefined }, s => s.validateCreate?.(object, context)],
    [
      'validateUpdate is asynchronous',
      { validateUpdate: async () => [] },
      s => s.validateUpdate?.(object, object, context),
    ],
    [
      'validateStatus returns strings',
      { validateStatus: () => ['no'] },
      s => s.validateStatus?.(object, object, context),
    ],
    ['checkName returns nothing', { checkName: () => undefined }, s => s.checkName?.('a', false)],
    ['claims returns a string', { claims: () => 'abc' }, s => s.claims?.(object)],
    ['gracePeriod returns a string', { gracePeriod: () => '5' }, s => s.gracePeriod?.(object, undefined)],
    ['convert returns nothing', { convert: () => undefined }, s => s.convert?.(object, 'v2')],
    ['compareRows returns a boolean', { compareRows: () => true }, s => s.compareRows?.(object, object)],
    [
      'a subresource returns nothing',
      { subresources: new Map([['brew', () => undefined]]) },
      s => s.subresources?.get('brew')?.(object, object, context),
    ],
    ['a cell is an object', { columns: [{ name: 'N', cell: () => ({}) }] }, s => s.columns?.[0]?.cell(object)],
  ])('whose %s is a failure of the plugin', (_name, strategy, run) => {
    const guarded = strategyOf(strategy);
    expect(() => run(guarded)).toThrow('the plugin "p" failed; see the log of the server');
    expect(failures).toEqual(['error']);
  });

  test('whose selectable field throws or is not a string counts as without a value', () => {
    for (const read of [fails, () => 5, () => undefined]) {
      const { selectableFields } = strategyOf({ selectableFields: new Map([['spec.x', read]]) });
      expect(selectableFields?.get('spec.x')?.(object)).toBe('');
      expect(failures).toEqual(['error']);
    }
  });

  test('keeps correct results, and functions that it lacks remain absent', () => {
    const guarded = strategyOf({ claims: () => ['a'], load: async () => 'module' });
    expect([guarded.claims?.(object), guarded.convert, guarded.columns]).toEqual([['a'], undefined, undefined]);
    expect(guarded.load?.()).toBeInstanceOf(Promise);
    expect(failures).toEqual([]);
  });
});
