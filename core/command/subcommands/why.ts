import { stringify } from 'yaml';
import { namedUser } from '../../access/impersonate.js';
import { ConfigError } from '../../api/point.js';
import type { UnknownRecord } from '../../model/record.js';
import { type ParsedArguments, parseArguments } from '../arguments.js';
import { pathIn, ServedKinds } from '../client/kinds.js';
import { AnswerError, ApiClient, serverOf } from '../client/request.js';
import { decisionText, explanationText } from '../client/whyText.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { styleOf } from '../terminal/style.js';

const FORMS = ['text', 'yaml', 'json'] as const;

/** Reads `--output`. Throws ConfigError. */
function formOf(given: unknown): (typeof FORMS)[number] {
  const found = FORMS.find(form => form === (given ?? 'text'));
  if (found) return found;
  throw new ConfigError('--output', `must be ${FORMS.join(', ')}, not ${JSON.stringify(given)}`);
}

/** The user that a question is about; empty for the sender. Throws ConfigError. */
function subjectOf({ as: user, 'as-group': groups }: ParsedArguments['values']): object {
  const given = (groups ?? []) as readonly string[];
  if (typeof user !== 'string') {
    if (given.length > 0) throw new ConfigError('--as-group', 'needs --as, the name of the user');
    return {};
  }
  return { user, groups: namedUser({ name: user, uid: '', groups: given, extra: new Map() }).groups };
}

/** The action that `VERB KIND[/SUBRESOURCE] [NAME]` or `VERB PATH` names. Throws Error for unknown kinds. */
function actionOf({ values, positionals }: ParsedArguments, kinds: ServedKinds): object {
  const [verb, what = '', name] = positionals;
  if (what.startsWith('/')) return { nonResourceAttributes: { verb, path: what } };
  const [word = '', subresource] = what.split('/');
  const { group, version, plural, namespaced } = kinds.named(word);
  const isAll = !namespaced || values['all-namespaces'] === true;
  const namespace = isAll ? undefined : typeof values['namespace'] === 'string' ? values['namespace'] : 'default';
  return { resourceAttributes: { verb, group, version, resource: plural, subresource, namespace, name } };
}

/** Asks in advance whether a user may do something, and why. */
async function explain(client: ApiClient, parsed: ParsedArguments): Promise<UnknownRecord> {
  const kinds = await ServedKinds.of(client);
  const kind = kinds.named('explanations');
  const spec = { ...subjectOf(parsed.values), ...actionOf(parsed, kinds) };
  const object = { apiVersion: kind.apiVersion, kind: kind.kind, spec };
  return (await client.ask({ method: 'POST', path: pathIn(kind, ''), object })).body;
}

/** The decision with an audit id. If there is none, rejects with an Error that says which decisions there are. */
async function decision(client: ApiClient, id: string): Promise<UnknownRecord> {
  const kind = (await ServedKinds.of(client)).named('decisions');
  try {
    return (await client.ask({ method: 'GET', path: pathIn(kind, '', id) })).body;
  } catch (error) {
    if (!(error instanceof AnswerError) || error.status !== 404) throw error;
    throw new Error(
      `${error.message}; the server keeps the last refusals and writes in memory: capstan get decisions lists them`,
    );
  }
}

/** `capstan why ID`, and `capstan why VERB KIND [NAME]`. Returns the exit code. Throws ConfigError. */
export async function whyCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('why'));
  const { values, positionals } = parsed;
  const form = formOf(values['output']);
  if (positionals.length === 0 || positionals.length > 3)
    throw new ConfigError('capstan why', 'expects the audit id of a request, or VERB KIND [NAME], such as create pods');
  const isAhead = positionals.length > 1;
  const other = ['as', 'as-group', 'namespace', 'all-namespaces'].find(flag => values[flag] !== undefined);
  if (!isAhead && other) throw new ConfigError(`--${other}`, 'is about a question, such as create pods, and not an id');
  const access = serverOf(values);
  try {
    const client = new ApiClient(access);
    const found = await (isAhead ? explain(client, parsed) : decision(client, positionals[0]!));
    if (form === 'json') io.out(JSON.stringify(found, null, 2));
    else if (form === 'yaml') io.out(stringify(found).trimEnd());
    else io.out((isAhead ? explanationText : decisionText)(found, styleOf()));
    return 0;
  } finally {
    access.close();
  }
}
