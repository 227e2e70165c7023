import type { ApiObject, ConditionUpdate, Naming } from '../../../core/api/index.js';

/**
 * The condition that says whether the group of a definition was approved, for groups in the domains of the system;
 * undefined for other groups, and without the annotation, which validation requires.
 */
export function approvalOf(
  { metadata, spec }: ApiObject & { readonly spec: { readonly group: string } },
  naming: Naming,
): ConditionUpdate | undefined {
  const given = metadata.annotations?.[naming.label('api-approved.orchestrator.io')];
  if (!given || !naming.isReservedGroup(spec.group)) return undefined;
  const product = naming.product[0]!.toUpperCase() + naming.product.slice(1);
  const isApproved = !given.startsWith('unapproved');
  return {
    type: `${product}APIApprovalPolicyConformant`,
    status: isApproved ? 'True' : 'False',
    reason: isApproved ? 'ApprovedAnnotation' : 'UnapprovedAnnotation',
    message: isApproved ? `approved in ${given}` : `not approved: ${JSON.stringify(given)}`,
  };
}
