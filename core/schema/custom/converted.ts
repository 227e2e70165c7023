import { goType } from '../../model/text/goText.js';
import type { ApiObject } from '../../model/object.js';
import { isRecord, stringAt, type UnknownRecord } from '../../model/record.js';
import { metadataTextViolations } from '../decode/metadata.js';

/** Thrown for a converted object that does not represent the original one. */
export class WrongConversion extends Error {
  constructor(
    /** The part of the object that is wrong. */
    readonly part: 'type' | 'object' | 'metadata',
    message: string,
  ) {
    super(message);
  }
}

function wrong(part: WrongConversion['part'], message: string): never {
  throw new WrongConversion(part, message);
}

const IDENTITY = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

/**
 * The result of a conversion of `original` to a version, with the metadata of the original except labels and
 * annotations. Throws WrongConversion, with upstream's texts, for an object of another version, kind or identity.
 */
export function acceptConverted(original: ApiObject, converted: unknown, apiVersion: string): ApiObject {
  if (!isRecord(converted)) wrong('object', `unexpected type ${goType(converted)}`);
  if (converted['apiVersion'] !== apiVersion)
    wrong('type', `invalid groupVersion (expected ${apiVersion}, received ${String(converted['apiVersion'] ?? '')})`);
  if (converted['kind'] !== original.kind)
    wrong('type', `invalid kind (expected ${original.kind}, received ${String(converted['kind'] ?? '')})`);
  const { metadata } = converted;
  const before: UnknownRecord = { ...original.metadata };
  for (const [member, shown] of IDENTITY) {
    const [expected, given] = [before[member] ?? '', stringAt(metadata, member)];
    if (expected !== given) wrong('object', `must have the same ${shown}: ${String(expected)} != ${given}`);
  }
  if (!isRecord(metadata)) wrong('metadata', `invalid metadata of type ${goType(metadata)} in converted object`);
  for (const member of ['labels', 'annotations'] as const) restoreTexts(before, metadata, member);
  return { ...converted, metadata: before } as unknown as ApiObject;
}

/** Copies the labels or annotations of a converted object. */
function restoreTexts(restored: UnknownRecord, metadata: UnknownRecord, member: 'labels' | 'annotations'): void {
  const texts = metadata[member];
  if (texts === undefined || texts === null) {
    delete restored[member];
    return;
  }
  if (!isRecord(texts)) wrong('metadata', `invalid metadata.${member} of type ${goType(texts)} in converted object`);
  for (const [key, text] of Object.entries(texts))
    if (typeof text !== 'string')
      wrong('metadata', `metadata.${member}[${key}] must be a string, but is ${goType(text)} in converted object`);
  const violations = metadataTextViolations(member, texts as { [key: string]: string });
  // Upstream's name of the annotations field is in the singular here.
  const fieldOf = (field: string): string => field.replace(/^metadata\.annotations/, 'metadata.annotation');
  const found = violations.map(({ field, message }) => `${fieldOf(field)}: ${message}`);
  if (found.length > 0) wrong('metadata', found.length === 1 ? found[0]! : `[${found.join(', ')}]`);
  restored[member] = texts;
}
