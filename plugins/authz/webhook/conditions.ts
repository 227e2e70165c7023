import type { Host } from '../../../core/api/index.js';
import type * as Cel from '../../../core/cel/index.js';
import { compileExpression } from '../../../core/schema/expressions/budget.js';
import { type ConditionsOutcome, evaluateConditions } from '../../../core/schema/expressions/conditions.js';
import { loadCel } from '../../../core/schema/expressions/environment.js';
import type { ReviewSpec } from './review.js';

/** Whether a webhook is asked about a request, or the error that prevents the decision. */
export type Conditions = (spec: ReviewSpec) => Promise<ConditionsOutcome>;

interface Made {
  readonly cel: typeof Cel;
  readonly environment: Cel.Environment;
}

let made: Promise<Made> | undefined;

/** Makes the environment when it is first needed: most servers have no such expressions. */
const environment = (): Promise<Made> => (made ??= make());

async function make(): Promise<Made> {
  const cel = await loadCel();
  const { STRING, listType, mapType } = cel;
  const object = (name: string, fields: Readonly<Record<string, Cel.Type>>): Cel.Type => {
    const known = new Map(Object.entries(fields));
    return { kind: 'object', name, field: field => known.get(field) };
  };
  const texts = listType(STRING);
  const selector = (name: string): Cel.Type =>
    object(`${name}Attributes`, {
      rawSelector: STRING,
      requirements: listType(object(`${name}Requirement`, { key: STRING, operator: STRING, values: texts })),
    });
  const request = object('SubjectAccessReviewSpec', {
    resourceAttributes: object('ResourceAttributes', {
      namespace: STRING,
      verb: STRING,
      group: STRING,
      version: STRING,
      resource: STRING,
      subresource: STRING,
      name: STRING,
      fieldSelector: selector('FieldSelector'),
      labelSelector: selector('LabelSelector'),
    }),
    nonResourceAttributes: object('NonResourceAttributes', { path: STRING, verb: STRING }),
    user: STRING,
    groups: texts,
    extra: mapType(STRING, texts),
    uid: STRING,
  });
  const options = { libraries: cel.librariesOf(), validation: cel.validationOf(), variables: { request } };
  return { cel, environment: cel.createEnvironment(options) };
}

/** Returns why an expression cannot be a condition; undefined if it can. */
export async function conditionFault(text: string): Promise<string | undefined> {
  const { program, type, errors } = (await environment()).environment.compile(text);
  if (!program) return `does not compile: ${errors}`;
  return type?.kind === 'bool' ? undefined : 'must evaluate to bool';
}

const RESOURCE = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];
const PATH = ['path', 'verb'];

const complete = (given: object | undefined, names: readonly string[]): object | undefined =>
  given && { ...Object.fromEntries(names.map(name => [name, ''])), ...given };

/** The value of `request`: empty texts and lists are present, empty objects are not. */
function requestOf({
  resourceAttributes,
  nonResourceAttributes,
  user = '',
  groups = [],
  extra = {},
  uid = '',
}: ReviewSpec) {
  const resource = complete(resourceAttributes, RESOURCE);
  const path = complete(nonResourceAttributes, PATH);
  return {
    user,
    groups,
    extra,
    uid,
    ...(resource ? { resourceAttributes: resource } : {}),
    ...(path ? { nonResourceAttributes: path } : {}),
  };
}

/** The conditions of a webhook; undefined without any. The expressions must have no fault. */
export async function conditionsOf(
  name: string,
  expressions: readonly string[],
  { observe }: Pick<Host<'pool'>, 'observe'>,
): Promise<Conditions | undefined> {
  if (expressions.length === 0) return undefined;
  const { cel, environment: env } = await environment();
  const compiled = expressions.map(text => compileExpression(env, text));
  const labels = { type: 'Webhook', name };
  const metric = 'apiserver_authorization_match_condition';
  return spec =>
    evaluateConditions(cel, compiled, { request: requestOf(spec) }, 'Fail', (seconds, outcome) => {
      observe(`${metric}_evaluation_seconds`, labels, seconds);
      if (outcome === 'error') observe(`${metric}_evaluation_errors_total`, labels, 1);
      if (outcome === 'excluded') observe(`${metric}_exclusions_total`, labels, 1);
    });
}
