import { existsSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ConfigError } from '../../api/point.js';
import { type ClientAccess, loadCredentials } from '../../client/index.js';
import { isRecord, recordAt, type UnknownRecord, stringAt } from '../../model/record.js';
import { atFlag } from '../../settings/atFlag.js';

/** Time without data from the server after which a request fails. */
const IDLE_TIMEOUT_MS = 30_000;
/** Time without an event after which a watch is considered ended. Servers end watches earlier. */
const WATCH_TIMEOUT_MS = 24 * 3600_000;

type Values = { readonly [name: string]: unknown };

/**
 * The administrator's kubeconfig in a data directory; by default in that of a server that was started in this folder.
 */
export const adminKubeconfigIn = (directory: unknown): string =>
  join(typeof directory === 'string' ? directory : './.capstan', 'admin.kubeconfig');

/**
 * The kubeconfig that the flags of a command name: `--kubeconfig`, the administrator's in `--data-dir`, the one of a
 * server that was started in this folder, or the one of the environment. Throws ConfigError if there is none.
 */
function kubeconfigOf({ kubeconfig, 'data-dir': directory }: Values): string {
  if (typeof kubeconfig === 'string') return kubeconfig;
  const own = adminKubeconfigIn(directory);
  if (existsSync(own)) return own;
  const given = process.env['KUBECONFIG'];
  if (typeof directory === 'string' || !given)
    throw new ConfigError(
      typeof directory === 'string' ? '--data-dir' : '--kubeconfig',
      `there is no file ${own}: start a server with capstan serve, or name a file with --kubeconfig`,
    );
  if (given.includes(delimiter))
    throw new ConfigError('--kubeconfig', 'KUBECONFIG names several files: name the one of the server');
  return given;
}

/**
 * The server that the flags of a command name, with credentials for it. `readsInput`: the command reads standard input,
 * so a credential plugin must not. Throws ConfigError.
 */
export function serverOf(values: Values, readsInput = false): ClientAccess {
  const kubeconfig = kubeconfigOf(values);
  return atFlag('--kubeconfig', () => loadCredentials({ kubeconfig, ...(readsInput && { hasTerminal: false }) }));
}

/** A request to a server. */
export interface ClientRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the URL of the server. */
  readonly path: string;
  /** Sent as JSON. */
  readonly object?: object;
  /** Headers besides those of the credentials; `content-type` is that of JSON unless it is among them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Time without data from the server, in milliseconds, after which the request fails. */
  readonly timeoutMs: number;
  /** Ends the request, and its answer. */
  readonly signal?: AbortSignal | undefined;
}

/** Thrown if a server does not answer. */
export class UnreachableError extends Error {}

/**
 * Sends a request, and sends it again if the server has answered 401 to credentials that may have been replaced
 * meanwhile. Rejects with UnreachableError if there is no answer.
 */
export async function sendRequest(access: ClientAccess, request: ClientRequest): Promise<IncomingMessage> {
  for (let isAgain = false; ; isAgain = true) {
    const credentials = await access.get();
    const answer = await sendOnce(access, request, access.requestOptions(credentials));
    if (answer.statusCode !== 401 || !access.refused(credentials) || isAgain) return answer;
    answer.resume();
  }
}

function sendOnce(
  { server }: ClientAccess,
  { method, path, object, headers: given, timeoutMs, signal }: ClientRequest,
  options: ReturnType<ClientAccess['requestOptions']>,
): Promise<IncomingMessage> {
  const send = server.startsWith('https:') ? httpsRequest : httpRequest;
  const sent = object === undefined ? undefined : JSON.stringify(object);
  const type = sent === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { 'user-agent': 'capstan', ...type, ...given, ...options.headers };
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = send(server + path, { ...options, method, headers, timeout: timeoutMs, signal }, resolve);
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no data for ${timeoutMs / 1000} s`)));
    outgoing.on('error', error => reject(new UnreachableError(`${server} cannot be reached: ${reasonOf(error)}`)));
    outgoing.end(sent);
  });
}

/** The reason why a server cannot be reached, with the remedy if it is known. */
function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code !== 'ECONNREFUSED') return error.message;
  return `${error.message}; is the server running? capstan serve starts one`;
}

/** An answer that is a refusal. Its message is the server's. */
export class AnswerError extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** The word for programs, such as NotFound; '' if the answer has none. */
    readonly reason: string,
  ) {
    super(message);
  }
}

/** The JSON object of an answer; empty if it is something else, such as a text of a proxy. */
function parseObject(text: string): UnknownRecord {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Plain text.
  }
  return {};
}

/** The next step after a refusal, by status, if one is known. */
const NEXT: ReadonlyMap<number, string> = new Map([
  [401, '; the server does not know these credentials: name the kubeconfig of this server with --kubeconfig'],
  [429, '; the server is busy: try again'],
]);

/** The statuses of refusals whose decision records say more. */
const EXPLAINED: ReadonlySet<number> = new Set([403, 409, 422]);
/** An audit id that the server has generated. Nothing else is shown as a part of a command. */
const AUDIT_ID = /^[0-9a-f-]{36}$/;

/** An answer as text, with its audit id; '' if it has none. */
interface TextAnswer {
  readonly status: number;
  readonly text: string;
  readonly auditId: string;
}

/** The error for a path of the server itself, such as `/metrics`, that does not answer with its text. */
export function refusedPathError(path: string, status: number): AnswerError {
  const hint = status === 401 || status === 403 ? ": use the administrator's kubeconfig, or a role with get on it" : '';
  return new AnswerError(`the server answered ${status} at ${path}${hint}`, status, '');
}

/** Requests of a command to a running server, with JSON in both directions. */
export class ApiClient {
  constructor(readonly access: ClientAccess) {}

  /** The object at a path; undefined if there is none. Throws with the server's message for any other refusal. */
  async get(path: string): Promise<UnknownRecord | undefined> {
    const answer = await this.#call({ method: 'GET', path });
    if (answer.status === 404) return undefined;
    return this.#check('GET', path, answer);
  }

  /** Writes. Throws with the server's message if it refuses. */
  async send(method: 'POST' | 'PUT' | 'DELETE', path: string, object?: object): Promise<UnknownRecord> {
    const answer = await this.#call({ method, path, ...(object && { object }) });
    return this.#check(method, path, answer);
  }

  /** The answer to any request: its status and the object in it. Rejects with AnswerError if the server refuses. */
  async ask(request: Omit<ClientRequest, 'timeoutMs'>): Promise<{ status: number; body: UnknownRecord }> {
    const { status, text, auditId } = await this.#call(request);
    return { status, body: checkedObject(status, text, auditId) };
  }

  /** The text at a path, such as the metrics, whatever its status. */
  async text(path: string): Promise<{ readonly status: number; readonly text: string }> {
    return await this.#call({ method: 'GET', path });
  }

  /** The events of a watch, until the server ends it. Rejects with AnswerError if the server refuses. */
  async *watch(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): AsyncGenerator<UnknownRecord> {
    const request = { method: 'GET', path, headers, timeoutMs: WATCH_TIMEOUT_MS, signal } as const;
    const answer = await sendRequest(this.access, request);
    if (answer.statusCode !== 200) checkedObject(answer.statusCode ?? 0, await textOf(answer));
    for await (const line of createInterface({ input: answer, crlfDelay: Infinity })) {
      const event = parseObject(line);
      const object = recordAt(event, 'object') ?? {};
      if (event['type'] === 'ERROR') throw errorOf(object, Number(object['code']));
      yield event;
    }
  }

  #check(method: string, path: string, { status, text, auditId }: TextAnswer): UnknownRecord {
    if (status < 300) return parseObject(text);
    throw new Error(`${method} ${path}: ${errorOf(parseObject(text), status, auditId).message}`);
  }

  async #call(request: Omit<ClientRequest, 'timeoutMs'>): Promise<TextAnswer> {
    const answer = await sendRequest(this.access, { ...request, timeoutMs: IDLE_TIMEOUT_MS });
    const id = answer.headers['audit-id'];
    return { status: answer.statusCode ?? 0, text: await textOf(answer), auditId: typeof id === 'string' ? id : '' };
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function errorOf(body: UnknownRecord, status: number, auditId = ''): AnswerError {
  const message = stringAt(body, 'message') || `the server answered ${status}`;
  const why = EXPLAINED.has(status) && AUDIT_ID.test(auditId) ? `; capstan why ${auditId} explains it` : '';
  return new AnswerError(message + (NEXT.get(status) ?? why), status, stringAt(body, 'reason'));
}

/** The object of an answer. Throws AnswerError for a refusal. */
function checkedObject(status: number, text: string, auditId?: string): UnknownRecord {
  if (status < 300) return parseObject(text);
  throw errorOf(parseObject(text), status, auditId);
}
