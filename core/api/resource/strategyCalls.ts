import type { ApiObject } from '../../model/object.js';
import { isPromise } from '../awaitable.js';
import { requireMembers } from '../checks/parts.js';
import type { Contributed } from '../point.js';
import type { CustomStrategy, ResourceCheck, ResourceSource } from './types.js';
import type { Column, SubresourceWrite } from '../strategy.js';
import { checkViolations } from '../checks/violations.js';

type Call = Contributed<unknown>['call'];
type Function = (...parameters: never[]) => unknown;
type Check = (result: unknown) => unknown;

const requireType =
  (is: (result: unknown) => boolean, what: string): Check =>
  result => {
    if (is(result)) return result;
    throw new TypeError(`it must return ${what}`);
  };

const isText = (value: unknown): boolean => typeof value === 'string';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const anything: Check = result => result;
const text = requireType(isText, 'a string');
const texts = requireType(value => Array.isArray(value) && value.every(isText), 'a list of strings');
const number = requireType(value => typeof value === 'number' && !Number.isNaN(value), 'a number');
const object = requireType(isObject, 'an object');
const isCellValue = (value: unknown): boolean =>
  isObject(value) ? Number.isSafeInteger((value as { since?: unknown }).since) : value !== undefined;
const cell = requireType(isCellValue, 'a scalar, an age or null');

const isVersion = (value: { readonly name?: unknown; readonly schema?: unknown } | null): boolean =>
  isText(value?.name) && isObject(value?.schema);

/** Throws TypeError unless a source returned a resource type, or undefined. */
const type: Check = result => {
  if (result === undefined) return result;
  requireMembers({
    group: 'string',
    kind: 'string',
    plural: 'string',
    versions: [
      value => Array.isArray(value) && value.every(isVersion) && value.filter(({ storage }) => storage).length === 1,
      'a list of versions with a name and a schema, one of them with storage set',
    ],
  })(result);
  return result;
};
const violations: Check = result => checkViolations(result as never);

/** The checks of the results of the functions of a strategy; functions that are not listed may return anything. */
const CHECKS: ReadonlyMap<string, Check> = new Map([
  ['validateCreate', violations],
  ['validateUpdate', violations],
  ['validateStatus', violations],
  ['checkName', texts],
  ['claims', texts],
  ['extraFinalizers', texts],
  ['gracePeriod', number],
  ['compareRows', number],
  ['convert', object],
  ['unknownFieldMessage', text],
]);

/** A synchronous function that is called like other functions of plugins, and whose result is checked. */
const guard = <F extends Function>(call: Call, name: string, run: F, check: Check): F =>
  ((...parameters) =>
    call(
      () => {
        const result = run(...parameters);
        if (isPromise(result)) throw new TypeError('it must be synchronous');
        return check(result);
      },
      undefined,
      { function: name },
    )) as F;

/** The `validate` of a resource type, guarded like the functions of a strategy. */
export const guardCheck = (validate: ResourceCheck, call: Call): ResourceCheck =>
  guard(call, 'validate', validate, violations);

/** A source of resource types, whose `define` is guarded like the functions of a strategy. */
export const guardSource = (source: ResourceSource, call: Call): ResourceSource => ({
  storageName: source.storageName,
  define: guard(call, 'define', object => source.define(object), type),
});

/** A selectable field. The front end reads it for every event, so a failure is reported and counts as ''. */
function guardField(call: Call, name: string, read: (object: ApiObject) => string): (object: ApiObject) => string {
  const guarded = guard(call, `selectableFields ${name}`, read, text);
  return object => {
    try {
      return guarded(object);
    } catch {
      return '';
    }
  };
}

const mapValues = <T>(map: ReadonlyMap<string, T>, change: (value: T, name: string) => T): ReadonlyMap<string, T> =>
  new Map(Array.from(map, ([name, value]) => [name, change(value, name)]));

/**
 * A strategy of a plugin whose functions are called like other functions of plugins: an error, or a result of the wrong
 * type, is a failure that names the plugin. `load` may be asynchronous.
 */
export function guardStrategy(strategy: CustomStrategy, call: Call): CustomStrategy {
  const { columns, subresources, selectableFields } = strategy;
  const functions = Object.entries(strategy)
    .filter(([name, member]) => typeof member === 'function' && name !== 'load')
    .map(([name, member]) => [name, guard(call, name, member as Function, CHECKS.get(name) ?? anything)]);
  return {
    ...strategy,
    ...(Object.fromEntries(functions) as CustomStrategy),
    ...(columns && {
      columns: columns.map((one): Column => ({ ...one, cell: guard(call, `columns ${one.name}`, one.cell, cell) })),
    }),
    ...(subresources && {
      subresources: mapValues(subresources, (write: SubresourceWrite, name) =>
        guard(call, `subresources ${name}`, write, object),
      ),
    }),
    ...(selectableFields && {
      selectableFields: mapValues(selectableFields, (read, name) => guardField(call, name, read)),
    }),
  };
}
