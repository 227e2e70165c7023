import { expect, test } from 'vitest';
import { create, lines, object } from './helpers.js';

const pod = (path: string) =>
  object('Pod', {
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', downwardAPI: { items: [{ path, fieldRef: { fieldPath: 'metadata.name' } }] } }],
    },
  });

test.each([
  ['a', []],
  ['a..b/..c', []],
  ['../a', ["must not contain '..'"]],
  ['..', ["must not contain '..'", "must not start with '..'"]],
  ['..a', ["must not start with '..'"]],
])('the path of a file in a volume must neither leave the volume nor begin with two dots: %s', (path, messages) => {
  const field = 'spec.volumes[0].downwardAPI.path';
  expect(lines(create('core/pods', pod(path)).violations)).toEqual(
    messages.map(message => `${field}: Invalid value: "${path}": ${message}`),
  );
});
