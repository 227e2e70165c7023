/** Parts of the differential scripts: random choices by a seed, requests, and the comparison of answers. */

export const MERGE = 'application/merge-patch+json';
export const APPLY = 'application/apply-patch+yaml';

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Members that differ between servers. */
const MASKED = new Set([
  ...[
    'uid',
    'resourceVersion',
    'creationTimestamp',
    'deletionTimestamp',
    'time',
    'clusterIP',
    'clusterIPs',
    'nodePort',
  ],
  ...['controller-uid', 'batch.kubernetes.io/controller-uid'],
]);
/** Parts of messages that differ: identities, times, and values in Go's own format. */
const TEXTS = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/(resourceVersion\\*":\\*")\d+/g, '$1<version>'],
  [/selfType\d+/g, 'selfType'],
  // The order of members differs.
  [/^( "" is invalid: patch: )?Invalid value: "\{\\".*\}": /s, '$1Invalid value: <object>: '],
  [/value: (?:map\[|\[\]|[a-zA-Z0-9.]+\{|\{|&)[\s\S]*?(?=: [a-z`"]|$)/g, 'value: <value>'],
];

/** A generator of numbers in [0, 1), the same for the same seed. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** True if a JSON value is an object. */
export const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value without the parts that differ between servers, with sorted members, and without duplicate causes. */
export function masked(value, name = '') {
  if (Array.isArray(value)) {
    const items = value.map(item => masked(item));
    // Entries whose times differ by a second have another order.
    if (name === 'managedFields') return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    if (name !== 'causes') return items;
    return [...new Set(items.map(item => JSON.stringify(item)))].map(text => JSON.parse(text));
  }
  if (typeof value === 'string') return TEXTS.reduce((text, [pattern, shown]) => text.replace(pattern, shown), value);
  if (!isObject(value)) return value;
  const names = Object.keys(value).filter(one => !MASKED.has(one));
  return Object.fromEntries(names.sort().map(one => [one, masked(value[one], one)]));
}

/** Makes random choices with a generator of numbers in [0, 1). */
export class Generator {
  constructor(random) {
    this.random = random;
  }

  pick(values) {
    return values[Math.floor(this.random() * values.length)];
  }

  chance(share) {
    return this.random() < share;
  }
}

/**
 * Sends a request. The result of an answer that is not JSON is its text. The first segment of the path in URLs of
 * webhooks on this machine, which names the server, is removed from the answer.
 */
export async function send(server, token, method, path, body, type = 'application/json') {
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'differential', 'content-type': type };
  const answer = await fetch(server + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  const text = (await answer.text()).replace(/(https:\/\/127\.0\.0\.1:\d+)\/\d+\//g, '$1/');
  const warning = answer.headers.get('warning');
  try {
    return { code: answer.status, warning, body: JSON.parse(text) };
  } catch {
    return { code: answer.status, warning, body: text };
  }
}

/** True if two servers have given the same answer, without values that every server chooses itself, such as uids. */
export function areAlike(answers) {
  // Upstream answers an apply that does not match the schema with 500.
  if (answers.every(({ body: { message } }) => /^failed to create typed patch/.test(message))) return true;
  const [first, ...others] = answers.map(answer => JSON.stringify(masked(answer)));
  return others.every(other => other === first);
}
