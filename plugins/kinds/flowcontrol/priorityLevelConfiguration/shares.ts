import type { PriorityLevelConfiguration } from '../../../../kinds/flowcontrol/v1.js';
import { setDefault, setDefaultForZero } from '../../../../core/model/record.js';
import { forbiddenField, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';

/** Shares of a limited level that does not set them. */
export const DEFAULT_SHARES = 30;

const KEEPS_ZERO = 'flowcontrol.orchestrator.io/v1beta3-preserve-zero-concurrency-shares';

/** The annotation in v1beta3 which says that shares are 0: without it, 0 stands for absent shares there. */
export const keepsZeroAnnotation = (naming: Naming): string =>
  naming.apiVersion(KEEPS_ZERO).replace('flowcontrol.apiserver.', 'flowcontrol.');

const isV1beta3 = (apiVersion: string): boolean => apiVersion.endsWith('/v1beta3');

/** Sets the default of the shares of a limited level. The annotation of v1beta3 stays where they are 0. */
export function setShares(
  { apiVersion, metadata, spec: { limited } }: PriorityLevelConfiguration,
  naming: Naming,
): void {
  if (!limited) return;
  const annotation = keepsZeroAnnotation(naming);
  if (!isV1beta3(apiVersion)) setDefault(limited, 'nominalConcurrencyShares', DEFAULT_SHARES);
  else if (metadata.annotations?.[annotation] === undefined)
    setDefaultForZero(limited, 'nominalConcurrencyShares', DEFAULT_SHARES);
  else {
    setDefault(limited, 'nominalConcurrencyShares', 0);
    if (limited.nominalConcurrencyShares === 0) metadata.annotations[annotation] = '';
    else {
      delete metadata.annotations[annotation];
      if (Object.keys(metadata.annotations).length === 0) delete metadata.annotations;
    }
  }
}

/** Converts a level to another version: only in v1beta3, the annotation tells that shares are 0. */
export function convertLevel(
  level: PriorityLevelConfiguration,
  apiVersion: string,
  naming: Naming,
): PriorityLevelConfiguration {
  const annotation = keepsZeroAnnotation(naming);
  const { [annotation]: _before, ...others } = level.metadata.annotations ?? {};
  const isZero = isV1beta3(apiVersion) && level.spec.limited?.nominalConcurrencyShares === 0;
  const annotations = isZero ? { ...others, [annotation]: '' } : others;
  const { annotations: _all, ...metadata } = level.metadata;
  return {
    ...level,
    apiVersion,
    metadata: Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata,
  };
}

/** The violation of a level that has the annotation in a version without it. */
export const validateAnnotations = (
  { apiVersion, metadata }: PriorityLevelConfiguration,
  naming: Naming,
): Violation[] =>
  isV1beta3(apiVersion) || metadata.annotations?.[keepsZeroAnnotation(naming)] === undefined
    ? []
    : [forbiddenField('metadata.annotations', `annotation '${keepsZeroAnnotation(naming)}' is forbidden`)];
