/**
 * Updates of the status, patches of all kinds and applies by several managers, generated from a seed and an object: the
 * same sequence is sent to several servers, and their answers and stored objects are compared.
 */
import { APPLY, DEFINITIONS, Generator, isObject, masked, MERGE } from './common.mjs';

const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

/** An object without the values that a server has chosen itself. */
const withoutOwn = object =>
  JSON.parse(JSON.stringify(object, (name, value) => (/^(?:clusterIPs?|nodePort)$/.test(name) ? undefined : value)));

/** Generates the writes of an object. */
class WriteGenerator extends Generator {
  /** Returns the value, or another one to replace it. */
  changed(value) {
    if (typeof value === 'string') return this.pick([value, `${value}x`, 'x', '', 'a/b', '1', null, 5]);
    if (typeof value === 'number') return this.pick([value, value + 1, 0, -1, 1, 70000, null, 'x', '9007199254740993']);
    if (typeof value === 'boolean') return this.pick([value, !value, null, 'true']);
    if (Array.isArray(value)) return this.list(value);
    if (isObject(value)) return this.part(value);
    return this.pick([null, 'x', 1, {}, []]);
  }

  list(value) {
    const kept = value.filter(() => this.random() < 0.7).map(item => (this.random() < 0.4 ? this.changed(item) : item));
    return this.pick([kept, kept, [...kept, ...value.slice(0, 1)], [...kept].reverse(), [], null]);
  }

  /** A subset of the members of an object, some of them changed. */
  part(value) {
    const out = {};
    for (const [name, member] of Object.entries(value))
      if (this.random() < 0.35) out[name] = this.random() < 0.6 ? this.changed(member) : member;
    if (this.random() < 0.1) out.unknown = this.pick(['x', {}, 1]);
    return out;
  }

  metadata() {
    const values = () => this.pick([{ a: '1' }, { a: '2', b: '1' }, { b: null }, {}, null, { 'x y': '1' }]);
    return this.pick([
      {},
      {},
      { labels: values() },
      { annotations: values() },
      { finalizers: this.pick([['a.b/c'], [], null]) },
    ]);
  }

  /** A path in an object, as a JSON pointer. */
  pointer(value) {
    let path = '';
    for (let at = value; ; ) {
      const names = isObject(at) || Array.isArray(at) ? Object.keys(at) : [];
      if (names.length === 0 || (path !== '' && this.random() < 0.25)) return { path, value: at };
      const name = this.pick(names.filter(one => path !== '' || !['metadata', 'kind', 'apiVersion'].includes(one)));
      if (name === undefined) return { path: '/metadata/labels', value: {} };
      path += `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
      at = at[name];
    }
  }

  operation(object) {
    const { path, value } = this.pointer(object);
    return this.pick([
      { op: 'replace', path, value: this.changed(value) },
      { op: 'add', path: this.pick([path, `${path}/-`, `${path}/0`, `${path}/new`]), value: this.changed(value) },
      { op: 'remove', path },
      { op: 'test', path, value: this.pick([value, value, 'x']) },
      { op: 'copy', from: path, path: this.pointer(object).path },
      { op: 'move', from: path, path: this.pointer(object).path },
    ]);
  }

  /** A write of `object`, whose members except for the metadata are `members`. */
  next({ apiVersion, kind, metadata, ...members }, { isCustom, hasStatus }) {
    const manager = `?fieldManager=${this.pick(['one', 'two', 'three'])}`;
    const status = members.status ?? {};
    const subresource = hasStatus && this.random() < 0.2 ? '/status' : '';
    const content = subresource ? { status: this.part(status) } : this.part(members);
    const merge = { metadata: this.metadata(), ...content };
    const applied = { apiVersion, kind, metadata: { name: metadata.name, ...this.metadata() }, ...content };
    return this.pick([
      { method: 'PATCH', query: subresource + manager, type: MERGE, body: merge },
      { method: 'PATCH', query: subresource + manager, type: isCustom ? MERGE : STRATEGIC, body: merge },
      {
        method: 'PATCH',
        query: subresource + manager,
        type: JSON_PATCH,
        body: [this.operation(members), this.operation(members)],
      },
      { method: 'PATCH', query: subresource + manager, type: APPLY, body: applied },
      { method: 'PATCH', query: `${subresource}${manager}&force=true`, type: APPLY, body: applied },
      {
        method: 'PUT',
        query: subresource + manager,
        type: 'application/json',
        body: { apiVersion, kind, metadata: { name: metadata.name, ...this.metadata() }, ...members, ...content },
      },
    ]);
  }
}

/** Sends a request. An answer that is cut off has the code 0. */
async function send(server, token, method, path, body, type) {
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'differential' };
  if (body) headers['content-type'] = type;
  try {
    const answer = await fetch(server + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    return { code: answer.status, body: JSON.parse(await answer.text()) };
  } catch (error) {
    return { code: 0, body: String(error) };
  }
}

/**
 * Sends `count` writes to an object that is created first. Calls `report` for each that the servers answer differently:
 * the object is then created again, so that later answers can be compared. Returns the number of equal answers.
 */
export async function compareWrites({ servers, token, base, count, random, report }) {
  const generator = new WriteGenerator(random);
  const of = `${base.path}/${base.object.metadata.name}`;
  const renew = async () => {
    for (const server of servers) {
      await send(server, token, 'PATCH', of, { metadata: { finalizers: null } }, MERGE);
      await send(server, token, 'DELETE', `${of}?gracePeriodSeconds=0`);
      while ((await send(server, token, 'GET', of)).code === 200);
      const made = await send(server, token, 'POST', `${base.path}?fieldManager=one`, base.object, 'application/json');
      if (made.code !== 201) throw new Error(`${server} refuses ${of}: ${made.code} ${JSON.stringify(made.body)}`);
    }
  };
  if (base.definition) {
    for (const server of servers) {
      await send(server, token, 'POST', DEFINITIONS, base.definition, 'application/json');
      while ((await send(server, token, 'GET', base.path)).code !== 200);
    }
  }
  await renew();
  const hasStatus = (await send(servers[0], token, 'GET', `${of}/status`)).code === 200;
  let alike = 0;
  // Writes in several versions of the kind change the same object.
  const paths = [base.path, ...(base.otherPaths ?? [])].map(path => `${path}/${base.object.metadata.name}`);
  for (let at = 0; at < count; at++) {
    const written = paths.length > 1 ? generator.pick(paths) : of;
    const object = withoutOwn((await send(servers[0], token, 'GET', written)).body);
    const write = generator.next(object, { isCustom: base.isCustom, hasStatus });
    const answers = [];
    for (const server of servers) {
      let { body } = write;
      if (write.method === 'PUT') {
        const current = await send(server, token, 'GET', of);
        const { resourceVersion, uid } = current.body.metadata;
        body = { ...body, metadata: { ...body.metadata, resourceVersion, uid } };
      }
      const path = written + write.query;
      answers.push(await send(server, token, write.method, path, body, write.type));
    }
    const shown = answers.map(answer => JSON.stringify(masked(answer)));
    // Upstream answers an apply that does not match the schema with 500.
    const misfits =
      answers.every(({ body }) => /^failed to create typed patch/.test(body.message)) ||
      (/^failed to convert new object/.test(answers[0].body.message) && answers[1].code === 422);
    if (misfits || shown[0] === shown[1]) alike++;
    else {
      report({ ...write, path: written }, answers);
      await renew();
    }
  }
  for (const server of servers) {
    await send(server, token, 'PATCH', of, { metadata: { finalizers: null } }, MERGE);
    await send(server, token, 'DELETE', `${of}?gracePeriodSeconds=0`);
  }
  return alike;
}
