import type { Json } from '../../model/object.js';
import { badRequest, Refusal } from '../../model/refusal.js';
import type { Field, Struct, Type } from '../model.js';
import { copyOf, isMembers, type Members, memberOf, setMember, treeText } from './members.js';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const SET_ORDER = '$setElementOrder/';
/** Directives that name no list. */
const NAMELESS = /^\$(deleteFromPrimitiveList|setElementOrder)(?!\/)/;

/** What the schema says about the value of a member. */
interface Rule {
  readonly type: Type | undefined;
  readonly merges: boolean;
  readonly replaces: boolean;
  readonly key: string | undefined;
}

const UNKNOWN: Rule = { type: undefined, merges: false, replaces: false, key: undefined };

const ruleOfField = ({ type, merge }: Field): Rule => ({
  type,
  merges: merge.patchStrategy?.includes('merge') ?? false,
  replaces: merge.patchStrategy?.includes('replace') ?? false,
  key: merge.patchMergeKey,
});

function ruleOf(type: Type | undefined, name: string): Rule {
  if (type?.is === 'map') return { ...UNKNOWN, type: type.of };
  const field = type?.is === 'struct' && !type.alternatives ? type.field.get(name) : undefined;
  return field ? ruleOfField(field) : UNKNOWN;
}

const itemType = (type: Type | undefined): Type | undefined => (type?.is === 'list' ? type.of : undefined);

/**
 * 422: the patch does not fit the object or the schema. Upstream's words, who takes it for a failure of its own (500).
 */
const unfit = (why: string): never => {
  throw new Refusal('Invalid', why, {});
};

const withoutKey = (item: Json, key: string): never =>
  unfit(`map: ${treeText(item)} does not contain declared merge key: ${key}`);

const unknownPatch = (directive: Json, members: Members): never =>
  unfit(`unknown patch type: ${treeText(directive)} in map: ${treeText(members)}`);

/**
 * A patch's value that meets nothing in the object: without nulls, directives and deleted items. Undefined: nothing is
 * left.
 */
function plain(patch: Json): Json | undefined {
  if (Array.isArray(patch)) return patch.map(plain).filter(item => item !== undefined);
  if (!isMembers(patch)) return patch;
  const directive = memberOf(patch, DIRECTIVE);
  if (directive !== undefined && directive !== 'replace') return undefined;
  const out: Members = {};
  for (const name of Object.keys(patch)) {
    if (name.startsWith('$') && isDirective(name)) continue;
    const value = patch[name]!;
    const kept = value === null ? undefined : plain(value);
    if (kept !== undefined) setMember(out, name, kept);
  }
  return out;
}

const isDirective = (name: string): boolean =>
  name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(DELETE_FROM) || name.startsWith(SET_ORDER);

const unfitFormat = (of: string): never => {
  throw badRequest(`invalid patch format of ${of}`);
};

/** Merges a patch into an object of the given type; neither is changed. */
function mergeMembers(target: Members, patch: Members, type: Type | undefined): Members {
  const directive = memberOf(patch, DIRECTIVE);
  if (directive !== undefined) return byDirective(directive, patch);
  const out = copyOf(target);
  for (const name of Object.keys(patch)) {
    if (isDirective(name)) continue;
    const value = patch[name]!;
    const merged = value === null ? undefined : mergeValue(memberOf(out, name), value, ruleOf(type, name));
    if (merged === undefined) delete out[name];
    else setMember(out, name, merged);
  }
  applyListDirectives(out, target, patch, type);
  retainKeys(out, patch);
  return out;
}

function byDirective(directive: Json, patch: Members): Members {
  if (directive === 'delete') return {};
  if (directive === 'replace') {
    const { [DIRECTIVE]: _directive, ...rest } = patch;
    return plain(rest) as Members;
  }
  return unknownPatch(directive, patch);
}

function mergeValue(target: Json | undefined, patch: Json, rule: Rule): Json | undefined {
  if (isMembers(patch) && isMembers(target))
    return rule.replaces ? plain(patch) : mergeMembers(target, patch, rule.type);
  if (Array.isArray(patch) && Array.isArray(target) && rule.merges) return mergeList(target, patch, rule);
  return plain(patch);
}

/** `$deleteFromPrimitiveList/x` first, then `$setElementOrder/x`, each on what the merge left. */
function applyListDirectives(out: Members, before: Members, patch: Members, type: Type | undefined): void {
  const names = Object.keys(patch);
  const nameless = names.map(name => NAMELESS.exec(name)?.[1]).find(name => name !== undefined);
  if (nameless) unfitFormat(nameless === 'setElementOrder' ? 'setElementOrder list' : 'primitive list');
  for (const directive of names.filter(name => name.startsWith(DELETE_FROM))) {
    const name = directive.slice(DELETE_FROM.length);
    const given = patch[directive];
    const list = memberOf(out, name);
    // What is no list deletes nothing.
    if (!Array.isArray(list) || !Array.isArray(given)) continue;
    const gone = positions(given, undefined);
    setMember(
      out,
      name,
      list.filter(item => !gone.has(JSON.stringify(item))),
    );
  }
  for (const directive of names.filter(name => name.startsWith(SET_ORDER))) {
    const name = directive.slice(SET_ORDER.length);
    const given = patch[directive]!;
    const order = Array.isArray(given) ? given : unfit(`expected a []interface {}, but received a ${heldType(given)}`);
    const { key } = ruleOf(type, name);
    checkOrder(memberOf(patch, name), order, key);
    const list = memberOf(out, name);
    const server = memberOf(before, name);
    if (Array.isArray(list)) setMember(out, name, ordered(list, order, Array.isArray(server) ? server : [], key));
  }
}

/** The items of a patch stand in its order directive, in the same order; those that it deletes need not. */
function checkOrder(list: Json | undefined, order: readonly Json[], key: string | undefined): void {
  if (!Array.isArray(list) || order.length === 0) return;
  const items = list.filter(item => !isMembers(item) || memberOf(item, DIRECTIVE) !== 'delete');
  const keyOf = (item: Json): string => identity(item, key) ?? withoutKey(item, key!);
  let met = 0;
  for (const wanted of order) {
    while (isMembers(items[met]) && memberOf(items[met] as Members, DIRECTIVE) !== undefined) met++;
    if (met < items.length && keyOf(items[met]!) === keyOf(wanted)) met++;
  }
  if (met < items.length)
    unfit(
      `The order in patch list:\n${treeText(list)}\n doesn't match $setElementOrder list:\n${treeText([...order])}\n`,
    );
}

function retainKeys(out: Members, patch: Members): void {
  const given = memberOf(patch, RETAIN_KEYS);
  if (given === undefined) return;
  const kept = Array.isArray(given) ? new Set(given) : unfitFormat('retainKeys');
  const stray = Object.keys(patch).some(name => !isDirective(name) && patch[name] !== null && !kept.has(name));
  if (stray) unfitFormat('retainKeys');
  for (const name of Object.keys(out)) if (!kept.has(name)) delete out[name];
}

/** How items are recognised: by their merge key, primitives by themselves. Items without the key are nobody's. */
function identity(item: Json, key: string | undefined): string | undefined {
  if (key === undefined || !isMembers(item)) return JSON.stringify(item);
  const value = memberOf(item, key);
  return value === undefined ? undefined : JSON.stringify(value);
}

/** Position of every identity, the first one where they repeat. */
function positions(list: readonly Json[], key: string | undefined): Map<string, number> {
  const found = new Map<string, number>();
  for (const [at, item] of list.entries()) {
    const id = identity(item, key);
    if (id !== undefined && !found.has(id)) found.set(id, at);
  }
  return found;
}

/** The position of an item in a list that does not have it. */
const LAST = Number.MAX_SAFE_INTEGER;

/**
 * Items named in `order` come in that order, the others in the server's; where the server knew both, its order also
 * decides between the two groups, else the named ones come first.
 */
function ordered(
  list: readonly Json[],
  order: readonly Json[],
  server: readonly Json[],
  key: string | undefined,
): Json[] {
  const [wanted, known] = [positions(order, key), positions(server, key)];
  const ranked = list.map(item => {
    const id = identity(item, key) ?? '';
    return { item, wanted: wanted.get(id) ?? LAST, known: known.get(id) ?? LAST };
  });
  const named = ranked.filter(one => one.wanted !== LAST).sort((a, b) => a.wanted - b.wanted);
  const others = ranked.filter(one => one.wanted === LAST).sort((a, b) => a.known - b.known);
  const out: Json[] = [];
  let at = 0;
  for (const other of others) {
    while (at < named.length) {
      const next = named[at]!;
      if (other.known !== LAST && next.known !== LAST && other.known < next.known) break;
      out.push(next.item);
      at++;
    }
    out.push(other.item);
  }
  return [...out, ...named.slice(at).map(one => one.item)];
}

/** The Go type that a tree holds for a JSON value. */
function heldType(value: Json): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : value === null ? '%!s(<nil>)' : 'map[string]interface {}';
}

function mergeList(target: readonly Json[], patch: readonly Json[], rule: Rule): Json[] {
  if (target.length === 0 && patch.length === 0) return [];
  const types = new Set([...target, ...patch].map(heldType));
  // Both lists as Go prints two of them.
  if (types.size > 1) return unfit(`list element types are not identical: ${treeText([[...target], [...patch]])}`);
  if (types.has('[]interface {}')) return unfit('the server rejected our request due to an error in our request');
  if (!types.has('map[string]interface {}')) return mergePrimitives(target, patch);
  const { key } = rule;
  if (key === undefined) return unfit('cannot merge lists without merge key for type struct');
  const items = patch as readonly Members[];
  for (const item of items) checkItem(item, key);
  if (items.some(item => memberOf(item, DIRECTIVE) === 'replace'))
    return items.filter(item => memberOf(item, DIRECTIVE) === undefined).map(item => plain(item)!);
  const deleted = positions(
    items.filter(item => memberOf(item, DIRECTIVE) === 'delete'),
    key,
  );
  const merging = items.filter(item => memberOf(item, DIRECTIVE) === undefined);
  const kept = target.filter(item => !deleted.has(identity(item, key) ?? ''));
  return ordered(mergeItems(kept, merging, key, itemType(rule.type)), merging, target, key);
}

/** An item without directive is checked once it is merged: a list that is replaced takes any. */
function checkItem(item: Members, key: string): void {
  const directive = memberOf(item, DIRECTIVE);
  if (directive === undefined || directive === 'replace') return;
  if (directive === 'merge') unfit('merging lists cannot yet be specified in the patch');
  if (directive !== 'delete') unknownPatch(directive, item);
  if (memberOf(item, key) === undefined) withoutKey(item, key);
}

function mergeItems(target: readonly Json[], patch: readonly Members[], key: string, type: Type | undefined): Json[] {
  const out = [...target];
  const places = positions(out, key);
  for (const item of patch) {
    const id = identity(item, key) ?? withoutKey(item, key);
    const place = places.get(id);
    const before = place === undefined ? undefined : out[place];
    if (place !== undefined && isMembers(before)) out[place] = mergeMembers(before, item, type);
    else {
      places.set(id, out.length);
      out.push(plain(item)!);
    }
  }
  return out;
}

function mergePrimitives(target: readonly Json[], patch: readonly Json[]): Json[] {
  const all = new Map([...target, ...patch].map(item => [JSON.stringify(item), item]));
  return ordered([...all.values()], patch, target, undefined);
}

/**
 * Strategic merge patch of an object of the given type (spec, "Strategic merge patch"): maps merge, lists merge by key
 * or as sets where the schema says so and are replaced otherwise, directives as documented there. Does not change its
 * arguments. Throws 400 for a patch that is no object or has malformed directives, 422 for one that does not fit the
 * object.
 */
export function applyStrategicPatch(target: Json, patch: Json, type: Struct): Json {
  if (!isMembers(patch)) throw badRequest('error decoding patch: a strategic merge patch must be a JSON object');
  return mergeMembers(isMembers(target) ? target : {}, patch, type);
}
