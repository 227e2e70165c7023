import { signal } from '@preact/signals';

/** A refusal of the server: the Status that it answered with, or a text if the answer was not a Status. */
export class ApiError extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    /** The id of the request in the audit log, by which the server can say why it refused. */
    readonly auditId: string | undefined,
    /** The whole Status; undefined if the answer was not a Status. */
    readonly status?: Status,
  ) {
    super(message);
  }
}

/** A Status, as far as the console reads it. */
export interface Status {
  readonly kind: 'Status';
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly causes?: readonly { readonly field?: string; readonly message?: string; readonly reason?: string }[];
  };
}

/** Parts of a request besides method and path. */
export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly accept?: string;
  /** Default: JSON. */
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Whether the server answered 401: the session has ended, or there never was one. */
export const isSignedOut = signal(false);

/** A request of a page must have this header: pages of other origins cannot set it (docs/security.md). */
const OWN_PAGE = ['x-console', '1'] as const;

function urlOf(path: string, query: RequestOptions['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && value !== false);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  const auditId = response.headers.get('audit-id') ?? undefined;
  let status: Partial<Status> | undefined;
  try {
    status = JSON.parse(text) as Partial<Status>;
  } catch {
    status = undefined;
  }
  if (status?.kind !== 'Status') return new ApiError(response.status, '', text || response.statusText, auditId);
  const { reason = '', message = response.statusText } = status;
  return new ApiError(response.status, reason, message, auditId, status as Status);
}

/**
 * Sends a request with the session. Resolves with a successful answer. Throws ApiError for any other, and TypeError if
 * the server cannot be reached.
 */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query, body, accept = 'application/json', contentType = 'application/json', signal: aborts } = options;
  const response = await fetch(urlOf(path, query), {
    method,
    headers: [
      OWN_PAGE,
      ['accept', accept],
      ...(body === undefined ? [] : [['content-type', contentType] as const]),
    ].map(([name, value]): [string, string] => [name, value]),
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    credentials: 'same-origin',
    cache: 'no-store',
    ...(aborts ? { signal: aborts } : {}),
  });
  if (response.ok) return response;
  if (response.status === 401) isSignedOut.value = true;
  throw await errorOf(response);
}

/** Sends a request and reads the JSON of the answer. Throws like `send`. */
export async function sendJson<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
  return (await (await send(method, path, options)).json()) as T;
}
