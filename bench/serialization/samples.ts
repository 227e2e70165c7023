import { normalize } from '../../core/schema/decode/decode.js';
import type { Struct } from '../../core/schema/model.js';
import { typeOf } from '../../core/schema/table/types.js';
import { type JsonObject, makeConfigMap, makeDefinition, makeDeployment, makePod } from './objects.js';

/** An object or list that engines encode and decode, in the canonical form that the server stores and sends. */
export interface Sample {
  readonly name: string;
  readonly value: JsonObject;
  /** Its type, for encodings that follow a schema. */
  readonly type: Struct;
  readonly apiVersion: string;
  readonly kind: string;
}

/** Makes the sample of a generated value. Throws if the value has members that the type does not have. */
function makeSample(name: string, typeId: string, value: JsonObject): Sample {
  const type = typeOf(typeId);
  const strictErrors: string[] = [];
  const canonical = normalize(type, value, { strictErrors });
  if (strictErrors.length > 0) throw new Error(`the generated ${name} is no ${typeId}: ${strictErrors.join(', ')}`);
  const apiVersion = String(value['apiVersion']);
  const kind = String(value['kind']);
  return { name, type, apiVersion, kind, value: { kind, apiVersion, ...canonical } };
}

/** Makes the sample of a list. Items do not repeat kind and API version. */
function makeList(name: string, typeId: string, items: readonly JsonObject[]): Sample {
  const { kind, apiVersion } = items[0]!;
  const bare = items.map(({ kind: _kind, apiVersion: _apiVersion, ...rest }) => rest);
  return makeSample(name, `${typeId}List`, {
    kind: `${String(kind)}List`,
    apiVersion: apiVersion!,
    metadata: { resourceVersion: '123456' },
    items: bare,
  });
}

/** Makes objects of four sizes, and lists of `items` objects. They are the same in every run. */
export function makeSamples(items: number): Sample[] {
  const several = (make: (at: number) => JsonObject): JsonObject[] =>
    Array.from({ length: items }, (_, at) => make(at + 1));
  return [
    makeSample('ConfigMap', 'core.v1.ConfigMap', makeConfigMap(1)),
    makeSample('Deployment', 'apps.v1.Deployment', makeDeployment(1)),
    makeSample('Pod', 'core.v1.Pod', makePod(1)),
    makeSample('CustomResourceDefinition', 'apiextensions.v1.CustomResourceDefinition', makeDefinition(1)),
    makeList(`list of ${items} ConfigMaps`, 'core.v1.ConfigMap', several(makeConfigMap)),
    makeList(`list of ${items} Deployments`, 'apps.v1.Deployment', several(makeDeployment)),
    makeList(`list of ${items} Pods`, 'core.v1.Pod', several(makePod)),
  ];
}
