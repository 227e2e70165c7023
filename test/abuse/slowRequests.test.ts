import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWhole } from '../api/fuzz/probe.js';
import { Api } from '../api/support.js';
import { RawClient } from '../conformance/rawClient.js';
import { costOf, slowness } from './slow/cost.js';
import { customParts, defineTexts } from './slow/custom.js';
import { allPlaces } from './slow/kinds.js';
import { knownParts, objectPart, type Part, requestParts } from './slow/requests.js';
import { chosenForms, type Form, IS_LONG, randomNumbers, SEED, textOf } from './slow/texts.js';

/** Objects that are created, in the short form. */
const OBJECTS = 100;
const TIMEOUT_MS = IS_LONG ? 24 * 3_600_000 : 600_000;

async function send(api: Api, bytes: Buffer): Promise<void> {
  const client = await RawClient.open({ port: Number(new URL(api.server.httpUrl!).port) });
  client.send(bytes);
  const answer = await client.untilBytes(isWhole);
  client.socket.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 (?!500)\d\d\d /);
}

/** Returns the forms of a text that take longer than the limit, with the CPU time of all threads of the server. */
async function slowText(api: Api, { name, value, bytes, request }: Part, form: Form): Promise<string[]> {
  const time = await slowness(async (part, limit) => {
    const sent = request(textOf(form, part * bytes - value.length));
    return sent ? await costOf(() => send(api, sent), limit) : 0;
  });
  return time === undefined ? [] : [`${name}: ${JSON.stringify(form)} takes ${time} ms`];
}

async function slowTexts(api: Api, parts: readonly Part[], random: () => number): Promise<string[]> {
  const slow: string[] = [];
  for (const part of parts)
    for (const form of chosenForms(part.value, random)) slow.push(...(await slowText(api, part, form)));
  return slow;
}

describe.each(['uws', 'node'] as const)(`slow expressions, listener %s (seed ${SEED})`, listener => {
  let api: Api;
  const random = randomNumbers(SEED);
  beforeAll(async () => {
    api = await Api.start({ httpPort: 0, listener });
    await api.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'slow' }, data: { a: 'b' } });
    await defineTexts(api);
  });
  afterAll(() => api.close());

  test('texts that took seconds in earlier versions are processed within the limit', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const slow: string[] = [];
    for (const [part, form] of knownParts(api.server)) slow.push(...(await slowText(api, part, form)));
    expect(slow).toEqual([]);
  });

  test('headers, queries, paths and patches are processed within the limit', { timeout: TIMEOUT_MS }, async () => {
    expect(await slowTexts(api, requestParts(api.server), random)).toEqual([]);
  });

  // Listeners do not parse bodies, so the content of a body takes the same time with both.
  if (listener === 'node') return;

  test('strings of objects are processed within the limit', { timeout: TIMEOUT_MS }, async () => {
    const places = allPlaces();
    const some = IS_LONG
      ? places
      : Array.from({ length: OBJECTS }, () => places[Math.floor(random() * places.length)]!);
    const parts = some.map(place => objectPart(api.server, place));
    expect(await slowTexts(api, parts, random)).toEqual([]);
  });

  test('strings of custom objects are processed within the limit, whatever their format', {
    timeout: TIMEOUT_MS,
  }, async () => {
    expect(await slowTexts(api, customParts(api.server), random)).toEqual([]);
  });
});
