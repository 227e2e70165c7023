/**
 * A kind whose versions a webhook converts, the webhook, and writes and reads of its objects, generated from a seed.
 */
import { APPLY, MERGE } from './common.mjs';

export const GROUP = 'admitted.example.com';

/** In version v2, the member `a` of the spec is `b`. The object named `stuck` cannot be converted. */
export function convert({ objects, desiredAPIVersion }) {
  const [from, to] = desiredAPIVersion.endsWith('v2') ? ['a', 'b'] : ['b', 'a'];
  if (objects.some(({ metadata }) => metadata.name === 'stuck'))
    return { result: { status: 'Failure', message: 'it is stuck' } };
  const convertedObjects = objects.map(({ spec = {}, ...object }) => {
    const { [from]: moved, ...rest } = spec;
    return {
      ...object,
      apiVersion: desiredAPIVersion,
      spec: { ...rest, ...(moved === undefined ? {} : { [to]: moved }) },
    };
  });
  return { result: { status: 'Success' }, convertedObjects };
}

/** The definition of a kind with two versions, between which a webhook converts. */
export function convertedDefinition(clientConfig) {
  const version = (name, member) => ({
    name,
    served: true,
    storage: name === 'v1',
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: {
              [member]: { type: 'string', maxLength: 5 },
              list: { type: 'array', items: { type: 'string' } },
            },
          },
          status: { type: 'object', properties: { text: { type: 'string' } } },
        },
      },
    },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [version('v1', 'a'), version('v2', 'b')],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    },
  };
}

/** Writes and reads of objects in two versions. */
export function* conversions(generator, at) {
  const of = version => `/apis/${GROUP}/${version}/namespaces/default/gadgets`;
  const name = generator.chance(0.15) ? 'stuck' : `g${at}`;
  const member = version => (version === 'v1' ? 'a' : 'b');
  const spec = version => ({
    [generator.pick([member(version), 'c'])]: generator.pick(['x', 'y', 'toolong']),
    list: ['p'],
  });
  const object = version => ({
    apiVersion: `${GROUP}/${version}`,
    kind: 'Gadget',
    metadata: { name },
    spec: spec(version),
  });
  const version = () => generator.pick(['v1', 'v2']);
  const at1 = version();
  yield ['POST', `${of(at1)}?fieldManager=one`, object(at1)];
  for (const one of ['v1', 'v2']) yield ['GET', `${of(one)}/${name}`];
  const at2 = version();
  yield ['PATCH', `${of(at2)}/${name}?fieldManager=two`, { spec: spec(at2) }, MERGE];
  const at3 = version();
  yield ['PATCH', `${of(at3)}/${name}?fieldManager=three&force=true`, object(at3), APPLY];
  const at4 = version();
  yield ['PATCH', `${of(at4)}/${name}/status?fieldManager=four`, { status: { text: 'x', no: 1 } }, MERGE];
  for (const one of ['v1', 'v2']) yield ['GET', `${of(one)}?limit=2`];
  yield ['DELETE', `${of(version())}/${name}`];
}
