import type * as Cel from '../../../core/cel/index.js';
import { authorizer } from '../../../core/api/access.js';
import type { Change, ServedKind } from '../../../core/api/admission.js';
import type { Host } from '../../../core/api/host.js';
import type { UnknownRecord } from '../../../core/model/record.js';
import { authorizerOf } from '../../../core/schema/expressions/authorizer.js';
import { admissionRequest, namespaceOf } from './request.js';
import type { ShownIn } from './shown.js';

/** The values of the variables that all expressions may use, for one request. */
export class RequestValues {
  readonly #authorizer: Cel.Authorizer;

  constructor(
    readonly cel: typeof Cel,
    host: Pick<Host<'pool'>, 'at' | 'kinds'>,
    readonly change: Change,
  ) {
    this.#authorizer = authorizerOf(cel, change.user, {
      authorization: host.at(authorizer),
      neutralGroup: group => host.kinds.neutralGroup(group),
    });
  }

  /** The values for a match, with the objects in its version. */
  of(matched: ServedKind, { object, old }: ShownIn): Readonly<Record<string, unknown>> {
    const { view } = this.change;
    const request = admissionRequest(this.change, matched);
    return {
      object: object ?? null,
      oldObject: old ?? null,
      request,
      namespaceObject: null,
      authorizer: this.#authorizer,
      'authorizer.requestResource': this.cel.resourceCheck(this.#authorizer, {
        group: view.resource.group,
        resource: view.resource.resource,
        ...(view.subresource ? { subresource: view.subresource } : {}),
        namespace: namespaceOf(this.change),
        name: view.name,
      }),
    };
  }
}

/**
 * The values for match conditions, made from those for other expressions. They have no namespace, and the resource is
 * that of the request even if the rules have selected another version of it.
 */
export function conditionValues(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const request = values['request'] as UnknownRecord;
  return { ...values, namespaceObject: null, request: { ...request, resource: request['requestResource'] } };
}
