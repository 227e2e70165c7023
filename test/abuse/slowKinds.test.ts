import { beforeAll, expect, test } from 'vitest';
import { loadEngine } from '../../core/schema/custom/engine.js';
import { callInTime, type Cost, costOf, isSurelyQuick, LIMIT_MS, slowness } from './slow/cost.js';
import { allPlaces, check, placeText, withoutCopies } from './slow/kinds.js';
import { chosenForms, type Form, IS_LONG, randomNumbers, SEED, textOf } from './slow/texts.js';

const BYTES = 100_000;
/** The writes that are measured together: a create, a write of the status, and an update. */
const REQUESTS = 3;
const LIMIT = REQUESTS * LIMIT_MS;
const TIMEOUT_MS = IS_LONG ? 24 * 3_600_000 : 600_000;
const TITLE = `slow expressions: no string of a built-in kind takes long to be checked, whatever it is (seed ${SEED})`;

beforeAll(() => loadEngine());

test(TITLE, { timeout: TIMEOUT_MS }, async () => {
  const random = randomNumbers(SEED);
  const all = allPlaces();
  const places = IS_LONG ? all : withoutCopies(all, random);
  expect(places.length).toBeGreaterThan(2000);
  const slow: string[] = [];
  for (const place of places) {
    const checkText = check(place);
    const timeOf = async (form: Form): Promise<number | undefined> => {
      const cost: Cost = (part, limit) => {
        const run = checkText(textOf(form, part * BYTES));
        let isInTime = true;
        return costOf(() => (isInTime &&= callInTime(run)), limit);
      };
      return (await isSurelyQuick(cost, LIMIT)) ? undefined : await slowness(cost, LIMIT);
    };
    for (const form of chosenForms(place.value, random)) {
      const time = await timeOf(form);
      if (time !== undefined) slow.push(`${placeText(place)}: ${JSON.stringify(form)} takes ${time} ms`);
    }
  }
  expect(slow).toEqual([]);
});
