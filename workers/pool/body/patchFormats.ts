/** An apply whose configuration is in CBOR; accepted only by servers with CBOR. */
export const APPLY_CBOR = 'application/apply-patch+cbor';

/** Patch formats by media type (spec, "Patch content types"). */
export const FORMATS = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
  [APPLY_CBOR]: 'apply',
} as const;

/** A patch format. */
export type PatchFormat = (typeof FORMATS)[keyof typeof FORMATS];

/**
 * A format that describes changes to the current object, as opposed to an apply, which describes the intended state.
 */
export type ChangingFormat = Exclude<PatchFormat, 'apply'>;
