import { badRequest } from '../../../core/model/refusal.js';
import { normalize, TypeMismatch } from '../../../core/schema/decode/decode.js';
import { isMembers, type Members } from '../../../core/schema/patch/members.js';
import { typeOf } from '../../../core/schema/table/types.js';
import { parseBody } from './body.js';
import type { Context } from '../context.js';
import { notAnObject } from './envelope.js';
import { type DeleteOptions, parseDeleteOptions } from './options.js';
import type { AuthorizedRequest } from '../types.js';

/** The options of a delete or deletecollection, from the body or, without one, from the query. Throws 400, 415, 422. */
export const decodeDeleteOptions = (context: Context, request: AuthorizedRequest): DeleteOptions =>
  parseDeleteOptions(request.route.query, deleteOptionsBody(context, request), context);

const DELETE_OPTIONS = 'DeleteOptions';

function deleteOptionsBody(context: Context, request: AuthorizedRequest): Members | undefined {
  const { body } = request.job;
  if (!body || body.length === 0) return undefined;
  const value = parseBody(context, request, { dryRun: false, fieldValidation: 'Ignore' }) ?? {};
  if (!isMembers(value)) throw notAnObject(value);
  const kind = value['kind'] ?? '';
  if (kind !== '' && kind !== DELETE_OPTIONS)
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(value['apiVersion'] ?? '')}`,
    );
  try {
    return normalize(typeOf('meta.v1.DeleteOptions'), value, {
      strictErrors: [],
      numberMismatch: request.numberMismatch,
    }) as Members;
  } catch (error) {
    throw error instanceof TypeMismatch ? badRequest(error.message) : error;
  }
}
