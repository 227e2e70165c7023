import type { Json } from '../../../core/model/object.js';
import { badRequest } from '../../../core/model/refusal.js';
import { decodeCbor } from '../../../core/schema/cbor/cborDecode.js';
import { UnreadableBody } from '../../../core/schema/decode/unreadable.js';
import { parseStrict, type StrictJson } from '../../../core/schema/json/json.js';
import { isMembers, type Members } from '../../../core/schema/patch/members.js';
import { valueMismatch } from '../../../core/schema/patch/mismatch.js';
import { decodeYamlStrict } from '../../../core/schema/yaml/yaml.js';
import type { AuthorizedRequest } from '../types.js';
import { reportStrictErrors } from './body.js';
import type { WriteOptions } from './options.js';
import { APPLY_CBOR } from './patchFormats.js';

/** Returns `group/version, Kind=kind`, the form in upstream's messages. */
export function kindText(apiVersion: Json | undefined, kind: Json | undefined): string {
  const text = typeof apiVersion === 'string' ? apiVersion : '';
  return `${text.includes('/') ? text : `/${text}`}, Kind=${typeof kind === 'string' ? kind : ''}`;
}

/** The configuration that an apply sends, in CBOR, YAML or JSON. Throws 400 for another kind and for managedFields. */
export function parseConfiguration(
  request: AuthorizedRequest,
  options: WriteOptions,
  apiVersion: string,
  kind: string,
): Members {
  const { value: parsed, duplicates } = parseApplied(request.job);
  const value = parsed ?? {};
  if (!isMembers(value))
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: ${valueMismatch(value, 'map[string]interface {}')}`,
    );
  if (value['apiVersion'] !== apiVersion || value['kind'] !== kind)
    throw badRequest(`invalid object type: ${kindText(value['apiVersion'], value['kind'])}`);
  if (isMembers(value['metadata']) && value['metadata']['managedFields'] != null)
    throw badRequest('metadata.managedFields must be nil');
  reportStrictErrors(options.fieldValidation, duplicates, request.warnings, () =>
    badRequest(
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n' +
        duplicates.map(duplicate => `  ${duplicate}`).join('\n'),
    ),
  );
  return value;
}

/** The value of a configuration, as its media type says. */
function parseApplied({ contentType, body }: AuthorizedRequest['job']): Pick<StrictJson, 'value' | 'duplicates'> {
  if (contentType.split(';', 1)[0] !== APPLY_CBOR) return parseYamlOrJson(body!);
  try {
    return { value: decodeCbor(body!), duplicates: [] };
  } catch (error) {
    throw error instanceof UnreadableBody ? badRequest(`error decoding CBOR: ${error.syntaxError}`) : error;
  }
}

/** Tries the JSON parser first, because it is faster. Duplicate keys are reported as the YAML parser finds them. */
function parseYamlOrJson(body: Uint8Array): Pick<StrictJson, 'value' | 'duplicates'> {
  if (body[0] !== 0x7b) return parseYaml(body);
  try {
    const parsed = parseStrict(body);
    return parsed.duplicates.length > 0 ? parseYaml(body) : parsed;
  } catch {
    return parseYaml(body);
  }
}

function parseYaml(body: Uint8Array): ReturnType<typeof decodeYamlStrict> {
  try {
    return decodeYamlStrict(body);
  } catch (error) {
    throw error instanceof UnreadableBody
      ? badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`)
      : error;
  }
}
