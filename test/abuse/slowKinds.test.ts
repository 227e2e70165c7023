import { appendFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { loadEngine } from '../../core/schema/custom/engine.js';
import { costOfCall, LIMIT_MS } from './slow/cost.js';
import { allPlaces, check, placeText } from './slow/kinds.js';
import { chosenForms, IS_LONG, randomNumbers, SEED, textOf } from './slow/texts.js';

const BYTES = 100_000;
/** What is measured together: a create, a write of the status, and an update. */
const REQUESTS = 3;
const TIMEOUT_MS = IS_LONG ? 24 * 3_600_000 : 600_000;
const TITLE = `slow expressions: no string of a built-in kind takes long to be checked, whatever it is (seed ${SEED})`;

beforeAll(() => loadEngine());

test(TITLE, { timeout: TIMEOUT_MS }, () => {
  const random = randomNumbers(SEED);
  const places = allPlaces();
  expect(places.length).toBeGreaterThan(2000);
  const slow: string[] = [];
  for (const place of places) {
    const checked = check(place);
    for (const form of chosenForms(place.value, random)) {
      const cost = costOfCall(checked(textOf(form, BYTES)), REQUESTS * LIMIT_MS);
      if (cost > REQUESTS * LIMIT_MS)
        slow.push(`${placeText(place)}: ${JSON.stringify(form)} takes ${Math.round(cost)} ms`);
      if (process.env['DBG'] && cost > REQUESTS * LIMIT_MS) appendFileSync('/tmp/slowk.txt', `${slow.at(-1)}\n`);
    }
    if (process.env['DBG']) appendFileSync('/tmp/progress.txt', `${placeText(place)}\n`);
  }
  expect(slow).toEqual([]);
});
