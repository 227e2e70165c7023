import { writeJson } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';
import { badRequest, Refusal } from '../../model/refusal.js';
import type { Field, Struct, Type } from '../model.js';
import { copyOf, isMembers, type Members, memberOf, setMember, treeText } from './members.js';
import { valueMismatch } from './mismatch.js';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const SET_ORDER = '$setElementOrder/';
/** List directives without a list name. */
const WITHOUT_LIST_NAME = /^\$(deleteFromPrimitiveList|setElementOrder)(?!\/)/;

/** The merge rule of a member by the schema. */
interface MergeRule {
  readonly type: Type | undefined;
  readonly merges: boolean;
  readonly replaces: boolean;
  readonly key: string | undefined;
}

const UNKNOWN: MergeRule = { type: undefined, merges: false, replaces: false, key: undefined };

const ruleOfField = ({ type, merge }: Field): MergeRule => ({
  type,
  merges: merge.patchStrategy?.includes('merge') ?? false,
  replaces: merge.patchStrategy?.includes('replace') ?? false,
  key: merge.patchMergeKey,
});

function ruleOf(type: Type | undefined, name: string): MergeRule {
  if (type?.is === 'map') return { ...UNKNOWN, type: type.of };
  const field = type?.is === 'struct' && !type.alternatives ? type.field.get(name) : undefined;
  return field ? ruleOfField(field) : UNKNOWN;
}

const itemType = (type: Type | undefined): Type | undefined => (type?.is === 'list' ? type.of : undefined);

/** Throws 422: the patch does not match the object or the schema. Upstream's message; upstream answers 500. */
const failMismatch = (why: string): never => {
  throw new Refusal('Invalid', why, {});
};

const failMissingKey = (item: Json, key: string): never =>
  failMismatch(`map: ${treeText(item)} does not contain declared merge key: ${key}`);

const failUnknownDirective = (directive: Json, members: Members): never =>
  failMismatch(`unknown patch type: ${treeText(directive)} in map: ${treeText(members)}`);

/**
 * The value of a member that the object does not have, or has in another form: without the nulls of members, and
 * without maps that contain `$patch`. Other directives stay, as members that the kind does not have. Returns undefined
 * if nothing remains.
 */
function newMember(patch: Json): Json | undefined {
  if (Array.isArray(patch)) return patch.map(newMember).filter(item => item !== undefined);
  if (!isMembers(patch)) return patch;
  if (memberOf(patch, DIRECTIVE) !== undefined) return undefined;
  const out: Members = {};
  for (const name of Object.keys(patch)) {
    const value = patch[name]!;
    const kept = value === null ? undefined : newMember(value);
    if (kept !== undefined) setMember(out, name, kept);
  }
  return out;
}

const isDirective = (name: string): boolean =>
  name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(DELETE_FROM) || name.startsWith(SET_ORDER);

const failFormat = (of: string): never => {
  throw badRequest(`invalid patch format of ${of}`);
};

/**
 * Merges a patch into an object. Neither is changed. Parts of the patch that replace something (`$patch: replace`,
 * lists and maps that the schema replaces, new items of keyed lists) are stored as they are, with nulls and directives.
 */
function mergeMembers(target: Members, patch: Members, type: Type | undefined): Members {
  const directive = memberOf(patch, DIRECTIVE);
  if (directive !== undefined) return applyDirective(directive, patch);
  const before = retainKeys(target, patch);
  const out = copyOf(before);
  for (const name of Object.keys(patch)) {
    if (isDirective(name)) continue;
    const value = patch[name]!;
    const merged = value === null ? undefined : mergeValue(memberOf(out, name), value, ruleOf(type, name));
    if (merged === undefined) delete out[name];
    else setMember(out, name, merged);
  }
  applyListDirectives(out, before, patch, type);
  return out;
}

function applyDirective(directive: Json, patch: Members): Members {
  if (directive === 'delete') return {};
  if (directive === 'replace') {
    const { [DIRECTIVE]: _directive, ...rest } = patch;
    return rest;
  }
  return failUnknownDirective(directive, patch);
}

function mergeValue(target: Json | undefined, patch: Json, rule: MergeRule): Json | undefined {
  if (isMembers(patch) && isMembers(target)) return rule.replaces ? patch : mergeMembers(target, patch, rule.type);
  if (Array.isArray(patch) && Array.isArray(target)) return rule.merges ? mergeList(target, patch, rule) : patch;
  return newMember(patch);
}

/** Applies `$deleteFromPrimitiveList/x`, then `$setElementOrder/x` to the merged object. */
function applyListDirectives(out: Members, before: Members, patch: Members, type: Type | undefined): void {
  const names = Object.keys(patch);
  const withoutName = names.map(name => WITHOUT_LIST_NAME.exec(name)?.[1]).find(name => name !== undefined);
  if (withoutName) failFormat(withoutName === 'setElementOrder' ? 'setElementOrder list' : 'primitive list');
  for (const directive of names.filter(name => name.startsWith(DELETE_FROM))) {
    const name = directive.slice(DELETE_FROM.length);
    const given = patch[directive];
    const list = memberOf(out, name);
    // A directive that is not a list is ignored.
    if (!Array.isArray(list) || !Array.isArray(given)) continue;
    const deleted = positions(given, undefined);
    setMember(
      out,
      name,
      list.filter(item => !deleted.has(writeJson(item))),
    );
  }
  for (const directive of names.filter(name => name.startsWith(SET_ORDER))) {
    const name = directive.slice(SET_ORDER.length);
    const given = patch[directive]!;
    const order = Array.isArray(given)
      ? given
      : failMismatch(`expected a []interface {}, but received a ${goTypeName(given)}`);
    const { key } = ruleOf(type, name);
    checkOrder(memberOf(patch, name), order, key);
    const list = memberOf(out, name);
    const liveList = memberOf(before, name);
    if (!Array.isArray(list)) continue;
    checkKeys(order, key);
    setMember(out, name, orderItems(list, order, Array.isArray(liveList) ? liveList : [], key));
  }
}

/** Throws 422 for an item of the order that does not name an item of a keyed list. */
function checkKeys(order: readonly Json[], key: string | undefined): void {
  if (key === undefined) return;
  for (const [at, item] of order.entries()) {
    if (!isMembers(item)) failMismatch(`value for key ${at} is not a map`);
    if (itemKey(item, key) === undefined) failMissingKey(item, key);
  }
}

/** Checks that the order directive contains the items of the patch in the same order, except deleted ones. */
function checkOrder(list: Json | undefined, order: readonly Json[], key: string | undefined): void {
  if (!Array.isArray(list) || order.length === 0) return;
  const items = list.filter(item => !isMembers(item) || memberOf(item, DIRECTIVE) !== 'delete');
  const keyOf = (item: Json): string => itemKey(item, key) ?? failMissingKey(item, key!);
  let matched = 0;
  for (const wanted of order) {
    while (isMembers(items[matched]) && memberOf(items[matched] as Members, DIRECTIVE) !== undefined) matched++;
    if (matched < items.length && keyOf(items[matched]!) === keyOf(wanted)) matched++;
  }
  if (matched < items.length)
    failMismatch(
      `The order in patch list:\n${treeText(list)}\n doesn't match $setElementOrder list:\n${treeText([...order])}\n`,
    );
}

/** The target without the members that `$retainKeys` does not name. Throws 400 if the patch has others. */
function retainKeys(target: Members, patch: Members): Members {
  const given = memberOf(patch, RETAIN_KEYS);
  if (given === undefined) return target;
  const kept = Array.isArray(given) ? new Set(given) : failFormat('retainKeys');
  const stray = Object.keys(patch).some(name => !isDirective(name) && patch[name] !== null && !kept.has(name));
  if (stray) failFormat('retainKeys');
  const out: Members = {};
  for (const name of Object.keys(target)) if (kept.has(name)) setMember(out, name, target[name]!);
  return out;
}

/** The identity of an item: its merge key, or a primitive itself. Undefined for items without the key. */
function itemKey(item: Json, key: string | undefined): string | undefined {
  if (key === undefined || !isMembers(item)) return writeJson(item);
  const value = memberOf(item, key);
  return value === undefined ? undefined : writeJson(value);
}

/** The first index of each item identity. */
function positions(list: readonly Json[], key: string | undefined): Map<string, number> {
  const found = new Map<string, number>();
  for (const [at, item] of list.entries()) {
    const id = itemKey(item, key);
    if (id !== undefined && !found.has(id)) found.set(id, at);
  }
  return found;
}

/** The index of an item that is not in a list. */
const NOT_IN_LIST = Number.MAX_SAFE_INTEGER;

/**
 * Orders items: those in `order` by it, the others by the live list. If an item of each group is in the live list,
 * their order there decides; otherwise the item in `order` comes first.
 */
function orderItems(
  list: readonly Json[],
  order: readonly Json[],
  liveList: readonly Json[],
  key: string | undefined,
): Json[] {
  const [wanted, known] = [positions(order, key), positions(liveList, key)];
  const ranked = list.map(item => {
    const id = itemKey(item, key) ?? '';
    return { item, wanted: wanted.get(id) ?? NOT_IN_LIST, known: known.get(id) ?? NOT_IN_LIST };
  });
  const named = ranked.filter(one => one.wanted !== NOT_IN_LIST).sort((a, b) => a.wanted - b.wanted);
  const others = ranked.filter(one => one.wanted === NOT_IN_LIST).sort((a, b) => a.known - b.known);
  const out: Json[] = [];
  let at = 0;
  for (const other of others) {
    while (at < named.length) {
      const next = named[at]!;
      if (other.known !== NOT_IN_LIST && next.known !== NOT_IN_LIST && other.known < next.known) break;
      out.push(next.item);
      at++;
    }
    out.push(other.item);
  }
  return [...out, ...named.slice(at).map(one => one.item)];
}

/** The Go type of a decoded JSON value. */
function goTypeName(value: Json): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : value === null ? '%!s(<nil>)' : 'map[string]interface {}';
}

function mergeList(target: readonly Json[], patch: readonly Json[], rule: MergeRule): Json[] {
  if (target.length === 0 && patch.length === 0) return [];
  const types = new Set([...target, ...patch].map(goTypeName));
  if (types.size > 1)
    return failMismatch(`list element types are not identical: ${treeText([[...target], [...patch]])}`);
  if (types.has('[]interface {}'))
    return failMismatch('the server rejected our request due to an error in our request');
  if (!types.has('map[string]interface {}')) return mergePrimitives(target, patch);
  const { key } = rule;
  if (key === undefined) return failMismatch('cannot merge lists without merge key for type struct');
  const items = patch as readonly Members[];
  for (const item of items) checkItem(item, key);
  // The directive stands in an item of its own and concerns the whole list.
  if (items.some(item => memberOf(item, DIRECTIVE) === 'replace'))
    return items.filter(item => memberOf(item, DIRECTIVE) === undefined);
  const deleted = positions(
    items.filter(item => memberOf(item, DIRECTIVE) === 'delete'),
    key,
  );
  const merging = items.filter(item => memberOf(item, DIRECTIVE) === undefined);
  const kept = target.filter(item => !deleted.has(itemKey(item, key) ?? ''));
  return orderItems(mergeItems(kept, merging, key, itemType(rule.type)), merging, target, key);
}

/** Checks the directive of an item. Items without directive are checked when they are merged. */
function checkItem(item: Members, key: string): void {
  const directive = memberOf(item, DIRECTIVE);
  if (directive === undefined || directive === 'replace') return;
  if (directive === 'merge') failMismatch('merging lists cannot yet be specified in the patch');
  if (directive !== 'delete') failUnknownDirective(directive, item);
  if (memberOf(item, key) === undefined) failMissingKey(item, key);
}

function mergeItems(target: readonly Json[], patch: readonly Members[], key: string, type: Type | undefined): Json[] {
  const out = [...target];
  const indexes = positions(out, key);
  for (const item of patch) {
    const id = itemKey(item, key) ?? failMissingKey(item, key);
    const index = indexes.get(id);
    const before = index === undefined ? undefined : out[index];
    if (index !== undefined && isMembers(before)) out[index] = mergeMembers(before, item, type);
    else {
      indexes.set(id, out.length);
      out.push(item);
    }
  }
  return out;
}

function mergePrimitives(target: readonly Json[], patch: readonly Json[]): Json[] {
  const all = new Map([...target, ...patch].map(item => [writeJson(item), item]));
  return orderItems([...all.values()], patch, target, undefined);
}

/**
 * Applies a strategic merge patch (spec, "Merge strategy markers") without changing its arguments. Maps are merged;
 * lists are merged by key or as sets if the schema says so, otherwise replaced. Throws 400 for a malformed patch and
 * 422 for one that does not match the object.
 */
export function applyStrategicPatch(target: Json, patch: Json, type: Struct): Json {
  const members = patch ?? {};
  if (!isMembers(members)) throw badRequest(valueMismatch(members, 'map[string]interface {}'));
  return mergeMembers(isMembers(target) ? target : {}, members, type);
}
