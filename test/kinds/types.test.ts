import { expect, test } from 'vitest';
import type { Deployment } from '../../kinds/apps/v1.js';
import type { MicroTime, Quantity, Time } from '../../kinds/index.js';
import type { Pod, PodSpec } from '../../kinds/v1.js';
import { required, type Violation } from '../../core/model/refusal.js';
import { validateOneOf, validateRequired } from '../../plugins/kinds/shared/violations.js';
import { decoded, decodedPart, object } from './helpers.js';

/*
 * Errors that the compiler must find in the rules of a kind: each line below `@ts-expect-error` has one, and the build
 * of the tests fails if such a line compiles.
 */

const pod = decoded<Pod>('core/pods', object('Pod', { spec: { containers: [{ name: 'c', image: 'i' }] } }));

test('a misspelled field of a rule does not compile', () => {
  const rule = ({ spec }: Pod): Violation[] =>
    // @ts-expect-error: the field is `containers`.
    (spec.contaners ?? []).length === 0 ? [required('spec.containers')] : [];
  expect(rule(pod)).toHaveLength(1);
  // @ts-expect-error: the field is `restartPolicy`.
  expect(validateOneOf(pod.spec, 'restartPolcy', 'spec.restartPolicy', ['Always'])).toHaveLength(1);
  // @ts-expect-error: the member is not a string.
  expect(validateRequired(pod.spec, 'hostNetwork', 'spec.hostNetwork')).toHaveLength(1);
});

test('members that decoding guarantees need no check, others do', () => {
  const spec: PodSpec = decodedPart('core.v1.PodSpec', {});
  const { template } = decoded<Deployment>('apps/deployments', object('Deployment', { spec: {} })).spec;
  expect([pod.spec.containers?.[0]?.name, pod.spec.containers?.[0]?.resources]).toEqual(['c', {}]);
  expect(template.spec.containers).toBe(null);
  // @ts-expect-error: `volumes` may be absent.
  expect(() => spec.volumes.length).toThrow(TypeError);
  // @ts-expect-error: a list that is never omitted is null if it is empty.
  expect(() => spec.containers.length).toThrow(TypeError);
});

test('strings of different formats cannot be mixed up', () => {
  const [amount, time] = ['1Gi' as Quantity, '2024-01-01T00:00:00Z' as Time];
  const texts: string[] = [amount, time];
  // @ts-expect-error: a time is not an amount.
  const wrong: Quantity = time;
  // @ts-expect-error: times of Leases have microseconds.
  const coarse: MicroTime = time;
  // @ts-expect-error: not every string is an amount.
  const unparsed: Quantity = 'much';
  expect([...texts, wrong, coarse, unparsed]).toHaveLength(5);
});
