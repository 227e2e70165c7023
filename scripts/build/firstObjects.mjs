/**
 * Records the first objects of a new store from a server that has written them by requests, for
 * `core/server/firstObjects.ts`: servers with default settings start with them.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';

/** The namings of servers. */
export const NAMINGS = ['neutral', 'kubernetes'];

/** The resources whose objects are the same for every server, as prefixes of their keys. */
const RESOURCES = [
  'core/namespaces/',
  'core/serviceaccounts/',
  'rbac.authorization.orchestrator.io/',
  'scheduling.orchestrator.io/priorityclasses/',
  'flowcontrol.apiserver.orchestrator.io/',
  'apiregistration.orchestrator.io/apiservices/',
];
/** The pause between two reads of the store; if both return the same, everything is written. */
const LOOK_MS = 500;
const LOOKS = 60;
const TIME = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g;

const fileOf = (dist, naming) => join(dist, 'core', 'server', `firstObjects.${naming}.json`);

/** Removes the records, so that servers write the objects themselves. */
export const forgetFirstObjects = dist => {
  for (const naming of NAMINGS) rmSync(fileOf(dist, naming), { force: true });
};

/** The snapshot of a store. */
function snapshotOf(url, token) {
  const options = { rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` }, agent: false };
  return new Promise((resolve, reject) => {
    const request = get(`${url}/store/snapshot`, options, answer => {
      const pieces = [];
      answer.on('data', piece => pieces.push(piece));
      answer.once('error', reject);
      answer.once('end', () => resolve(Buffer.concat(pieces)));
    });
    request.once('error', reject);
  });
}

/** The text of an object without the values that differ in each store. */
function textOf(value) {
  const text = Buffer.from(value).toString();
  const { uid, resourceVersion } = JSON.parse(text).metadata;
  if (text.includes('"$')) throw new Error(`the placeholders of first objects are in one of them: ${text}`);
  return text
    .replace(`"uid":"${uid}"`, '"uid":"$uid"')
    .replace(`"resourceVersion":"${resourceVersion}"`, '"resourceVersion":""')
    .replaceAll(TIME, '"$time"');
}

/** The first objects in the store of a server that gets no other requests, once it has written all of them. */
export async function readFirstObjects(dist, url, token) {
  const module = join(dist, 'core', 'services', 'snapshot', 'reader.js');
  const { SnapshotReader } = await import(pathToFileURL(module).href);
  let last;
  for (let looks = 0; looks < LOOKS; looks++) {
    const reader = new SnapshotReader();
    const objects = reader.take(await snapshotOf(url, token));
    const { revision } = reader.end();
    if (revision === last) {
      return objects
        .filter(({ key }) => RESOURCES.some(prefix => key.startsWith(prefix)))
        .sort((a, b) => a.created - b.created)
        .map(({ key, value }) => [key, textOf(value)]);
    }
    last = revision;
    await delay(LOOK_MS);
  }
  throw new Error('the server still writes to its store');
}

/** Writes the file for starts of the built server. */
export const writeFirstObjects = (dist, naming, objects) =>
  writeFileSync(fileOf(dist, naming), `[\n${objects.map(object => JSON.stringify(object)).join(',\n')}\n]\n`);
