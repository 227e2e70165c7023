import { ConfigError } from '../../../core/api/point.js';
import { isRecord } from '../../../core/model/record.js';
import { groupSpellings } from '../../../core/naming.js';
import type { ScopeTerm } from './usage/scopes.js';
import { checkConfigKind, recordOf, textsOf } from '../configuration.js';

/** A resource that can be used only where a quota covers it. */
export interface LimitedResource {
  /** As clients name it. */
  readonly apiGroup: string;
  readonly resource: string;
  /** The limited resources are those whose names contain one of these texts. */
  readonly matchContains: readonly string[];
  /** Objects in one of these scopes are limited. */
  readonly matchScopes: readonly ScopeTerm[];
}

const GROUP = 'apiserver.config.orchestrator.io';
/** The group of earlier versions. */
const FORMER_GROUP = 'resourcequota.admission.orchestrator.io';

function textAt(from: Record<string, unknown>, key: string, path: string): string {
  const value = from[key] ?? '';
  if (typeof value === 'string') return value;
  throw new ConfigError(`${path}.${key}`, 'must be a string');
}

function listAt(from: Record<string, unknown>, key: string, path: string): readonly unknown[] {
  const value = from[key] ?? [];
  if (Array.isArray(value)) return value;
  throw new ConfigError(path === '' ? key : `${path}.${key}`, 'must be a list');
}

function parseScope(value: unknown, path: string): ScopeTerm {
  const scope = recordOf(value, path, ['scopeName', 'operator', 'values']);
  return {
    scopeName: textAt(scope, 'scopeName', path),
    operator: textAt(scope, 'operator', path),
    values: textsOf(scope, 'values', path),
  };
}

function parseLimited(value: unknown, path: string): LimitedResource {
  const limited = recordOf(value, path, ['apiGroup', 'resource', 'matchContains', 'matchScopes']);
  const resource = textAt(limited, 'resource', path);
  if (resource === '') throw new ConfigError(`${path}.resource`, 'Required value: name the resource that is limited');
  const scopes = listAt(limited, 'matchScopes', path);
  return {
    apiGroup: textAt(limited, 'apiGroup', path),
    resource,
    matchContains: textsOf(limited, 'matchContains', path),
    matchScopes: scopes.map((scope, i) => parseScope(scope, `${path}.matchScopes[${i}]`)),
  };
}

/**
 * Reads a ResourceQuotaConfiguration; without one, nothing is limited. Throws ConfigError with the path of the invalid
 * field.
 */
export function parseConfig(config: unknown): readonly LimitedResource[] {
  if (config === undefined || config === null || (isRecord(config) && Object.keys(config).length === 0)) return [];
  const whole = recordOf(config, '', ['apiVersion', 'kind', 'limitedResources']);
  const isFormer = groupSpellings(FORMER_GROUP).some(group => String(whole['apiVersion']).startsWith(`${group}/`));
  if (isFormer) checkConfigKind(whole, FORMER_GROUP, ['v1beta1', 'v1alpha1'], 'Configuration');
  else checkConfigKind(whole, GROUP, ['v1'], 'ResourceQuotaConfiguration');
  return listAt(whole, 'limitedResources', '').map((limited, i) => parseLimited(limited, `limitedResources[${i}]`));
}
