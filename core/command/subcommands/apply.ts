import { queryOf } from '../../api/client/paths.js';
import { ConfigError } from '../../api/point.js';
import { stringAt, type UnknownRecord } from '../../model/record.js';
import { parseArguments, refuseOperands } from '../arguments.js';
import { objectsOfFile } from '../client/files.js';
import { pathIn, ServedKinds, type ServedKind } from '../client/kinds.js';
import { printedName } from '../client/printed.js';
import { AnswerError, ApiClient, serverOf, UnreachableError } from '../client/request.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { withProgress } from '../terminal/progress.js';
import { styleOf } from '../terminal/style.js';
import { monotonicTime } from '../../runtime/clock.js';
import { delay } from '../../runtime/timers.js';

const APPLY = 'application/apply-patch+yaml';
const MANAGER = 'capstan';
/** How long a kind may take to be served after its definition was applied, in milliseconds. */
const DEFINITION_MS = 10_000;
const AGAIN_MS = 50;

/** The effect of an apply on an object. */
export type Applied = 'created' | 'configured' | 'unchanged';

/** Options of an apply. */
export interface ApplyOptions {
  readonly fieldManager: string;
  /** Takes over fields that others own. */
  readonly force: boolean;
}

/** Creates or changes an object by server-side apply. Rejects with AnswerError if the server refuses. */
export async function applyObject(
  client: ApiClient,
  path: string,
  object: object,
  { fieldManager, force }: ApplyOptions,
): Promise<{ readonly applied: Applied; readonly body: UnknownRecord }> {
  const before = await client.get(path);
  const query = queryOf({ fieldManager, force: force ? 'true' : undefined });
  const headers = { 'content-type': APPLY };
  const { status, body } = await client.ask({ method: 'PATCH', path: path + query, object, headers });
  const version = (of: UnknownRecord | undefined): string => stringAt(of, 'metadata', 'resourceVersion');
  return { applied: status === 201 ? 'created' : version(before) === version(body) ? 'unchanged' : 'configured', body };
}

/** The kinds of a server while definitions are applied, which add kinds. */
export class GrowingKinds {
  #kinds: ServedKinds | undefined;
  readonly #promised = new Set<string>();

  constructor(readonly client: ApiClient) {}

  /** Records that an object was applied: a definition adds a kind. */
  note(object: UnknownRecord): void {
    if (stringAt(object, 'kind') === 'CustomResourceDefinition')
      this.#promised.add(`${stringAt(object, 'spec', 'group')} ${stringAt(object, 'spec', 'names', 'kind')}`);
  }

  /** The kind of an object. Waits for that of a definition. Throws Error if the server does not have it. */
  async of(object: UnknownRecord): Promise<ServedKind> {
    const [apiVersion, name] = [stringAt(object, 'apiVersion'), stringAt(object, 'kind')];
    if (apiVersion === '' || name === '') throw new Error('an object of the file has no apiVersion or kind: add it');
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
    const until = monotonicTime() + (this.#promised.has(`${group} ${name}`) ? DEFINITION_MS : 0);
    this.#kinds ??= await ServedKinds.of(this.client);
    let found = this.#kinds.of(apiVersion, name);
    for (; !found && monotonicTime() < until; found = this.#kinds.of(apiVersion, name)) {
      await delay(AGAIN_MS);
      this.#kinds = await ServedKinds.of(this.client);
    }
    if (found) return found;
    throw new Error(
      `the server has no kind ${name} in ${apiVersion}: apply its definition first, or correct the names`,
    );
  }
}

/** The next step after a refusal of an apply; '' if none is known. */
const nextStep = (error: unknown): string =>
  error instanceof AnswerError && error.status === 409 ? '; --force-conflicts takes the fields over' : '';

/**
 * `capstan apply -f FILE`. Returns 1 if an object was refused; the others are applied. Throws ConfigError, and
 * UnreachableError without trying the rest.
 */
export async function applyCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('apply'));
  refuseOperands('apply', parsed, ': name files with -f');
  const { values } = parsed;
  const files = (values['filename'] ?? []) as readonly string[];
  if (files.length === 0)
    throw new ConfigError('--filename', 'needs a value: --filename=FILE, or - for standard input');
  const objects = files.flatMap(objectsOfFile);
  if (objects.length === 0) throw new ConfigError('--filename', `${files.join(', ')}: there are no objects in it`);
  const access = serverOf(values, files.includes('-'));
  try {
    const client = new ApiClient(access);
    const kinds = new GrowingKinds(client);
    const given = typeof values['namespace'] === 'string' ? values['namespace'] : undefined;
    let failed = 0;
    for (const object of objects) {
      try {
        const options = { fieldManager: MANAGER, force: values['force-conflicts'] === true };
        const applying = applyOne(client, kinds, object, given, options);
        io.out(await withProgress(`applying ${labelOf(object)}`, applying));
      } catch (error) {
        // Credentials and connections fail for all objects alike.
        if (!(error instanceof Error) || error instanceof ConfigError || error instanceof UnreachableError) throw error;
        failed++;
        io.err(styleOf(process.stderr).bad(`${labelOf(object)}: ${error.message}${nextStep(error)}`));
      }
    }
    return failed > 0 ? 1 : 0;
  } finally {
    access.close();
  }
}

const labelOf = (object: UnknownRecord): string =>
  `${stringAt(object, 'kind') || 'object'} ${stringAt(object, 'metadata', 'name')}`.trim();

async function applyOne(
  client: ApiClient,
  kinds: GrowingKinds,
  object: UnknownRecord,
  given: string | undefined,
  options: ApplyOptions,
): Promise<string> {
  const kind = await kinds.of(object);
  const name = stringAt(object, 'metadata', 'name');
  if (name === '') throw new Error('has no metadata.name: add it');
  const own = stringAt(object, 'metadata', 'namespace');
  if (kind.namespaced && given !== undefined && own !== '' && own !== given)
    throw new Error(`is of the namespace ${own}, not of ${given}: omit --namespace`);
  const path = pathIn(kind, given ?? (own || 'default'), name);
  const { applied } = await applyObject(client, path, object, options);
  kinds.note(object);
  return `${printedName(object, kind)} ${applied}`;
}
