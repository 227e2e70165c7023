import { isRecord, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../../model/record.js';
import { ensure, fill, type Rewrite, rename } from './rewrite.js';

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';

/** Fields that v1beta1 had once for all versions, and v1 has in each version. */
const SHARED = ['subresources', 'additionalPrinterColumns'] as const;

const withPath = (column: UnknownRecord): UnknownRecord => {
  const copy = { ...column };
  rename(copy, 'JSONPath', 'jsonPath');
  return copy;
};

/** The schema of a version: v1 needs one, which says whether unknown fields are kept. */
function schemaOf(version: UnknownRecord, validation: unknown, keepsUnknown: boolean): UnknownRecord {
  const own = recordAt(version, 'schema') ?? validation;
  const schema = { ...(isRecord(own) ? recordAt(own, 'openAPIV3Schema') : undefined) };
  fill(schema, 'type', 'object');
  if (keepsUnknown) fill(schema, PRESERVE, true);
  return { openAPIV3Schema: schema };
}

function versionsOf(spec: UnknownRecord): UnknownRecord[] {
  const versions = recordsAt(spec, 'versions');
  return versions.length > 0 ? versions : [{ name: stringAt(spec, 'version'), served: true, storage: true }];
}

function rewriteConversion(spec: UnknownRecord): void {
  const conversion = recordAt(spec, 'conversion');
  if (!conversion || stringAt(conversion, 'strategy') !== 'Webhook') {
    if (conversion) delete conversion['conversionReviewVersions'];
    return;
  }
  const webhook = ensure(conversion, 'webhook');
  fill(webhook, 'clientConfig', conversion['webhookClientConfig']);
  fill(webhook, 'conversionReviewVersions', conversion['conversionReviewVersions'] ?? ['v1beta1']);
  delete conversion['webhookClientConfig'];
  delete conversion['conversionReviewVersions'];
}

/**
 * CustomResourceDefinition: in v1, all settings of a version are in its entry. v1beta1 kept unknown fields by default.
 */
export const definition: Rewrite = object => {
  const spec = ensure(object, 'spec');
  fill(spec, 'scope', 'Namespaced');
  const keepsUnknown = spec['preserveUnknownFields'] !== false;
  spec['versions'] = versionsOf(spec).map(version => {
    const made: UnknownRecord = { ...version, schema: schemaOf(version, spec['validation'], keepsUnknown) };
    for (const member of SHARED) if (spec[member] !== undefined) fill(made, member, spec[member]);
    if (Array.isArray(made['additionalPrinterColumns']))
      made['additionalPrinterColumns'] = recordsAt(made, 'additionalPrinterColumns').map(withPath);
    return made;
  });
  for (const member of ['version', 'validation', 'preserveUnknownFields', ...SHARED]) delete spec[member];
  rewriteConversion(spec);
};
