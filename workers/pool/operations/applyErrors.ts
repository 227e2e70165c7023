import type { ApiObject } from '../../../core/model/object.js';
import { Refusal, truncateViolations } from '../../../core/model/refusal.js';
import type { Conflict } from '../../../core/schema/apply/ownership.js';
import type { FieldManager } from '../../../core/schema/apply/fieldManagers.js';
import type { Members } from '../../../core/schema/patch/members.js';
import { kindText } from '../body/configuration.js';

function objectText(config: Members): string {
  const metadata = config['metadata'] as ApiObject['metadata'] | undefined;
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}; ${kindText(config['apiVersion'], config['kind'])}`;
}

/** 422 for a configuration whose result is not an object of the kind. */
export const notApplicableError = (config: Members, reason: string): Refusal =>
  new Refusal('Invalid', `failed to create typed patch object (${objectText(config)}): ${reason}`, {});

/** 422 for an apply to an object without managers whose fields cannot be given to one. */
export const notManageableError = (config: Members, reason: string): Refusal =>
  new Refusal(
    'Invalid',
    `failed to create manager for existing fields: failed to convert new object (${objectText(config)}) ` +
      `to smd typed: ${reason}`,
    {},
  );

/** `"one" with subresource "scale" using apps/v1`. */
function ownerText({ manager, subresource, operation, apiVersion }: FieldManager): string {
  const through = subresource ? ` with subresource ${JSON.stringify(subresource)}` : '';
  return `${JSON.stringify(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}

/** 409 that names managers and fields: all of them, or as many as a refusal may name. */
export function applyConflictError(conflicts: readonly Conflict[]): Refusal {
  const shown = truncateViolations(conflicts, ({ path }) => path.length);
  const causes = shown.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${ownerText(owner)}`,
    field: path,
  }));
  return new Refusal('Conflict', `Apply failed with ${conflictText(shown, conflicts.length)}`, { causes });
}

function conflictText(conflicts: readonly Conflict[], total: number): string {
  if (total === 1) return `1 conflict: conflict with ${ownerText(conflicts[0]!.owner)}: ${conflicts[0]!.path}`;
  const paths = new Map<FieldManager, string[]>();
  for (const { owner, path } of conflicts) {
    const same = paths.get(owner);
    if (same) same.push(path);
    else paths.set(owner, [path]);
  }
  const lines = [...paths]
    .sort(([a], [b]) => (a.manager < b.manager ? -1 : 1))
    .flatMap(([owner, fields]) => [`conflicts with ${ownerText(owner)}:`, ...fields.map(path => `- ${path}`)]);
  if (conflicts.length < total) lines.push('and more');
  return `${total} conflicts: ${lines.join('\n')}`;
}
