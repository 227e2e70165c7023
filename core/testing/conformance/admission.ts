import assert from 'node:assert/strict';
import type { Change, Mutator, Validator } from '../../api/admission.js';
import type { Match, Operation } from '../../api/checks/match.js';
import { checkMatch } from '../../api/checks/matching.js';
import type { Awaitable } from '../../api/point.js';
import type { ApiObject } from '../../model/object.js';
import { Refusal, type Violation } from '../../model/refusal.js';
import { type ConformanceTest, suite, type SuiteBuilder } from '../suite.js';
import { frozenChange, frozenCopy, withoutMembers } from './samples.js';

const testMatch = (
  { it }: SuiteBuilder,
  make: () => Awaitable<{ readonly on: Match }>,
  operations?: readonly Operation[],
): void => it('selects changes by lists of texts', async () => checkMatch((await make()).on, operations));

/** Runs a call; undefined if it throws a Refusal. Rethrows other errors. */
async function orRefusal<T>(call: () => Awaitable<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** A mutator under test, and the expected changes of some drafts. */
export interface MutatorCase {
  /** Makes one; called for each test. */
  make(): Awaitable<Mutator>;
  /** `after`: the expected draft; absent: the mutator refuses. */
  readonly drafts: readonly { readonly change: Change; readonly draft: ApiObject; readonly after?: ApiObject }[];
}

/**
 * Returns the tests that every mutator must pass.
 *
 * @example
 * const drafts = [{ change: change(), draft: { ...object }, after: { ...object, data: { a: '1' } } }];
 * for (const { name, run } of mutatorConformance({ make: () => new Defaults(), drafts })) test(name, run);
 */
export function mutatorConformance({ make, drafts }: MutatorCase): readonly ConformanceTest[] {
  const mutated = async (mutator: Mutator, change: Change, draft: ApiObject): Promise<ApiObject | undefined> => {
    const copy = structuredClone(draft);
    return await orRefusal(async () => {
      await mutator.mutate(change, copy, false);
      return copy;
    });
  };
  return suite(builder => {
    const { it } = builder;
    testMatch(builder, make, ['CREATE', 'UPDATE']);

    it('changes drafts as expected', async () => {
      const mutator = await make();
      for (const { change, draft, after } of drafts) assert.deepEqual(await mutated(mutator, change, draft), after);
    });

    it('changes nothing more when it is called again, as after a conflict', async () => {
      const mutator = await make();
      for (const { change, after } of drafts) if (after) assert.deepEqual(await mutated(mutator, change, after), after);
    });

    it('leaves a draft that is JSON, of the same kind and name', async () => {
      const mutator = await make();
      for (const { change, draft } of drafts) {
        const after = await mutated(mutator, change, draft);
        if (!after) continue;
        assert.deepEqual(JSON.parse(JSON.stringify(after)), after, 'must be JSON, without undefined members');
        const identity = ({ kind, apiVersion, metadata: { name, namespace, uid } }: ApiObject) => [
          kind,
          apiVersion,
          name,
          namespace,
          uid,
        ];
        assert.deepEqual(identity(after), identity(draft));
      }
    });

    it('does not modify the change', async () => {
      const mutator = await make();
      for (const { change, draft } of drafts) await mutated(mutator, frozenChange(change), draft);
    });

    it('does not fail for drafts that lack members', async () => {
      const mutator = await make();
      for (const { change, draft } of drafts)
        for (const less of withoutMembers(draft)) await mutated(mutator, change, less);
    });
  });
}

/** A validator under test, and the expected violations of some objects. */
export interface ValidatorCase {
  /** Makes one; called for each test. */
  make(): Awaitable<Validator>;
  /** `fields`: those of the expected violations, in any order; absent: the validator refuses. */
  readonly objects: readonly {
    readonly change: Change;
    readonly after: ApiObject | undefined;
    readonly fields?: readonly string[];
  }[];
}

/** Fails unless a violation is complete. */
export function checkViolation({ reason, field, message }: Violation): void {
  assert.deepEqual([typeof reason, typeof field, typeof message], ['string', 'string', 'string']);
  assert.ok(field !== '' && message !== '', 'a violation names its field and says what is wrong');
}

/**
 * Returns the tests that every validator must pass.
 *
 * @example
 * const objects = [{ change: change(), after: object, fields: ['data.level'] }];
 * for (const { name, run } of validatorConformance({ make: () => new Levels(), objects })) test(name, run);
 */
export function validatorConformance({ make, objects }: ValidatorCase): readonly ConformanceTest[] {
  /** Calls a validator with frozen objects, as a server does. */
  const validated = (validator: Validator, change: Change, after: ApiObject | undefined) =>
    orRefusal(() => validator.validate(frozenChange(change), frozenCopy(after)));
  return suite(builder => {
    const { it } = builder;
    testMatch(builder, make);

    it('finds the expected violations in frozen objects, each time', async () => {
      const validator = await make();
      for (let i = 0; i < 2; i++)
        for (const { change, after, fields } of objects) {
          const found = await validated(validator, change, after);
          assert.deepEqual(found?.map(({ field }) => field).sort(), fields?.toSorted());
        }
    });

    it('gives each violation a reason, a field and a message', async () => {
      const validator = await make();
      for (const { change, after } of objects)
        for (const violation of (await validated(validator, change, after)) ?? []) checkViolation(violation);
    });

    it('does not fail for objects that lack members', async () => {
      const validator = await make();
      for (const { change, after } of objects)
        for (const less of after ? withoutMembers(after) : []) await validated(validator, change, less);
    });
  });
}
