import { ApiError, type RequestOptions, send, type Status } from '../../../api/http.js';
import { readYaml } from './yamlText.js';

const YAML = 'application/yaml';

/** Converts a refusal in YAML to the form of one in JSON. */
function readRefusal(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status) return error;
  const doc = readYaml(error.message);
  const status = doc.errors.length === 0 ? (doc.toJS() as Partial<Status> | null) : undefined;
  if (status?.kind !== 'Status') return error;
  const { reason = '', message = error.message } = status;
  return new ApiError(error.code, reason, message, error.auditId, status as Status);
}

/** Sends a request whose answer is a text in YAML. Throws like `send`. */
export async function sendYaml(
  method: string,
  path: string,
  options: Omit<RequestOptions, 'accept'> = {},
): Promise<Response> {
  try {
    return await send(method, path, { contentType: YAML, ...options, accept: YAML });
  } catch (error) {
    throw readRefusal(error);
  }
}
