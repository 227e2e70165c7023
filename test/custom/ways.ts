import type { Settings } from '../../core/index.js';
import type { ResourceType, StructuralSchema } from '../../core/api/resource.js';
import { Api } from '../api/support.js';
import { defineResource } from '../server/library.js';
import type { Definition } from './lookalikes/index.js';

/* The two ways to add kinds. The behavior of a kind must not depend on the way, so the same tests run with both. */

export const WAYS = ['a definition', 'defineResource'] as const;

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

type TypeVersion = ResourceType['versions'][number];

/** A definition as a type of a program. */
function typeOf({ spec }: Definition): ResourceType {
  const { group, scope, names } = spec;
  const versions = spec.versions.map(
    ({ name, served, storage, schema, subresources, deprecated, ...rest }): TypeVersion => ({
      name,
      served: served === true,
      storage: storage === true,
      schema: schema.openAPIV3Schema as StructuralSchema,
      subresources: subresources as TypeVersion['subresources'],
      columns: rest['additionalPrinterColumns'] as TypeVersion['columns'],
      selectableFields: (rest['selectableFields'] as { jsonPath: string }[] | undefined)?.map(one => one.jsonPath),
      ...(deprecated ? { deprecationWarning: rest['deprecationWarning'] as string } : {}),
    }),
  );
  return defineResource({ ...(names as { plural: string; kind: string }), group, scope, versions });
}

/** A server with these kinds, given in one of the ways. */
export async function serve(
  way: (typeof WAYS)[number],
  definitions: readonly Definition[],
  settings: Partial<Settings> = {},
): Promise<Api> {
  if (way === 'defineResource') return Api.start({ ...settings, resources: definitions.map(typeOf) });
  const api = await Api.start(settings);
  for (const definition of definitions) await api.made(CRDS, definition);
  for (const { spec } of definitions) {
    const version = spec.versions.find(one => one.served)!;
    const path = `/apis/${spec.group}/${version.name}/${spec.names.plural}`;
    await api.until(async () => (await api.get(path)).status === 200);
  }
  return api;
}
