import { ConfigError } from '../../api/point.js';
import { isRecord, recordsAt, stringAt } from '../../model/record.js';
import { parseArguments } from '../arguments.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { formOf, isList, readSource, readSources, type SourceFile } from './files.js';
import type { ApiKind, Breach } from './lint/api.js';
import { kindOfDefinition } from './lint/definitions.js';
import { changeBreaches, kindBreaches } from './lint/rules.js';
import { yamlDocumentsOf } from './yamlDocuments.js';

const KIND = 'CustomResourceDefinition';

/** A definition with its place. */
interface Definition {
  readonly file: string;
  readonly document: number;
  readonly kind: ApiKind;
}

/** A breach with the file and the definition. */
interface Finding extends Breach {
  readonly file: string;
  readonly document: number;
  readonly definition: string;
}

/** The definitions of a file. Other objects are skipped. Throws ConfigError for those of an old version. */
function definitionsOf(source: SourceFile): readonly Definition[] {
  return yamlDocumentsOf(source).flatMap(({ number: document, place, content }) => {
    if (!isRecord(content)) return [];
    const objects = isList(content) ? recordsAt(content, 'items') : [content];
    const found = objects.filter(one => stringAt(one, 'kind') === KIND);
    const old = found.find(one => !stringAt(one, 'apiVersion').endsWith('/v1'));
    if (old)
      throw new ConfigError(
        place,
        `apiVersion ${stringAt(old, 'apiVersion')} is not served any more: rewrite the file with capstan convert`,
      );
    return found.map(one => ({ file: source.name, document, kind: kindOfDefinition(one) }));
  });
}

/** The breaches of the definitions, and of removed ones. `old` are the definitions of the previous release. */
function findingsOf(definitions: readonly Definition[], old: readonly Definition[]): Finding[] {
  const named = ({ file, document, kind }: Definition, found: readonly Breach[]): Finding[] =>
    found.map(one => ({ file, document, definition: kind.name, ...one }));
  const before = new Map(old.map(({ kind }) => [kind.name, kind]));
  const now = new Set(definitions.map(({ kind }) => kind.name));
  return [
    ...definitions.flatMap(definition => {
      const former = before.get(definition.kind.name);
      return named(definition, [
        ...kindBreaches(definition.kind),
        ...(former ? changeBreaches(former, definition.kind) : []),
      ]);
    }),
    ...old
      .filter(({ kind }) => !now.has(kind.name))
      .flatMap(definition =>
        // A removed definition removes its versions.
        named(definition, changeBreaches(definition.kind, { ...definition.kind, versions: [] })),
      ),
  ];
}

const textOf = ({ file, document, definition, field, rule, message, fix }: Finding): string =>
  `${file}: document ${document}: ${definition}: ${field}: rule ${rule}: ${message}: ${fix}`;

/**
 * `capstan lint-api FILE… [--against OLD]`: checks definitions against the rules of the deprecation policy. Returns 1
 * if a rule is broken. Throws ConfigError.
 */
export async function lintApiCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('lint-api'));
  const form = formOf(parsed, ['text', 'json']);
  const sources = readSources(parsed);
  const against = (parsed.values['against'] ?? []) as readonly string[];
  const definitions = sources.flatMap(definitionsOf);
  const old = against.map(name => readSource(name, '--against')).flatMap(definitionsOf);
  const names = sources.map(({ name }) => name).join(', ');
  if (definitions.length === 0 && old.length === 0)
    throw new ConfigError('--filename', `there is no ${KIND} in ${names}`);
  const findings = findingsOf(definitions, old);
  if (form === 'json') io.out(JSON.stringify(findings, null, 2));
  else for (const finding of findings) io.out(textOf(finding));
  return findings.length > 0 ? 1 : 0;
}
