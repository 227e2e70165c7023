import { isInteger } from '../../../core/model/text/jsonText.js';
import type { Json } from '../../../core/model/object.js';
import { isRecord, type UnknownRecord } from '../../../core/model/record.js';
import { jsonTypeName } from '../../../core/schema/patch/mismatch.js';

/** A type that a member must have, with its name in upstream's messages. */
type MemberType =
  | { readonly is: 'string' | 'boolean' | 'integer' | 'bytes'; readonly name: string }
  | { readonly is: 'struct'; readonly name: string; readonly members: Readonly<Record<string, MemberType>> }
  | { readonly is: 'list' | 'map'; readonly name: string };

const text = (name = 'string'): MemberType => ({ is: 'string', name });

const STATUS: MemberType = {
  is: 'struct',
  name: 'v1.Status',
  members: {
    status: text(),
    message: text(),
    reason: text('v1.StatusReason'),
    details: { is: 'struct', name: 'v1.StatusDetails', members: {} },
    code: { is: 'integer', name: 'int32' },
  },
};

const RESPONSE: MemberType = {
  is: 'struct',
  name: 'v1.AdmissionResponse',
  members: {
    uid: text('types.UID'),
    allowed: { is: 'boolean', name: 'bool' },
    status: STATUS,
    patch: { is: 'bytes', name: '[]uint8' },
    patchType: text('v1.PatchType'),
    auditAnnotations: { is: 'map', name: 'map[string]string' },
    warnings: { is: 'list', name: '[]string' },
  },
};

/** The name of a struct without its package. */
const shortName = (name: string): string => name.slice(name.indexOf('.') + 1);

const INT32 = 2 ** 31;

/** Whether a value is of a type. Its members are not checked. */
function isOfType(value: Json, type: MemberType): boolean {
  switch (type.is) {
    case 'struct':
    case 'map':
      return isRecord(value);
    case 'list':
      return Array.isArray(value);
    case 'bytes':
      return typeof value === 'string' || Array.isArray(value);
    case 'integer':
      return isInteger(value) && Number(value) >= -INT32 && Number(value) < INT32;
    default:
      return typeof value === type.is;
  }
}

/** The fault of a member, in upstream's words; `owner`: the struct that it is in, `path`: where it is. */
function memberError(value: Json | undefined, type: MemberType, owner: string, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const mismatch = (given: Json, wanted: string): string => {
    const shown = wanted === 'int32' && typeof given === 'number' ? `number ${given}` : jsonTypeName(given);
    return `json: cannot unmarshal ${shown} into Go struct field ${owner}.${path} of type ${wanted}`;
  };
  if (!isOfType(value, type)) return mismatch(value, type.name);
  if (type.is === 'struct') {
    const members = Object.entries(value as { [name: string]: Json });
    for (const [name, inner] of members) {
      const known = Object.hasOwn(type.members, name) ? type.members[name] : undefined;
      const error = known && memberError(inner, known, shortName(type.name), `${path}.${name}`);
      if (error) return error;
    }
    return undefined;
  }
  if (type.is !== 'list' && type.is !== 'map') return undefined;
  const wrong = Object.values(value as object).find(one => one !== null && typeof one !== 'string') as Json | undefined;
  return wrong === undefined ? undefined : mismatch(wrong, 'string');
}

/** The fault of the types of an answer to a review, in upstream's words; undefined without a fault. */
export const typeError = (body: UnknownRecord): string | undefined =>
  memberError(body['response'] as Json | undefined, RESPONSE, 'AdmissionReview', 'response');
