import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as C from '../../core/cel/index.js';

const at = (version: C.CompatibilityVersion, gates?: C.FeatureGates) =>
  C.createEnvironment({ libraries: C.librariesOf(version, gates), variables: { authorizer: C.AUTHORIZER_TYPE } });

describe('selectors in authorization checks', () => {
  const text = "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c').check('list').allowed()";
  it('are alpha in 1.31: available only with the gate [A455]', () => {
    expect(at('1.31').compile(text).errors).toContain("undeclared reference to 'fieldSelector'");
    expect(at('1.31', { authorizeWithSelectors: true }).compile(text).errors).toBe('');
    expect(at('1.30', { authorizeWithSelectors: true }).compile(text).errors).toContain('undeclared reference');
  });
  it('are available from 1.32 unless the gate is off [A455]', () => {
    expect(at('1.32').compile(text).errors).toBe('');
    expect(at('1.32', { authorizeWithSelectors: false }).compile(text).errors).toContain('undeclared reference');
  });
  it('a blank path, resource or malformed account is an error', () => {
    const host = { check: () => ({ allowed: true }) };
    for (const [call, error] of [
      ["authorizer.path(' ').check('get').allowed()", 'path must not be empty'],
      ["authorizer.group('').resource('').check('get').allowed()", 'resource must not be empty'],
      ["authorizer.serviceAccount('N', 'S').path('/').check('get').allowed()", 'Invalid service account name'],
      ["authorizer.serviceAccount('N', 's').path('/').check('get').allowed()", 'Invalid service account namespace'],
    ] as const)
      expect(
        at('1.32')
          .compile(call)
          .program!.evaluate({ authorizer: new C.Authorizer(host) }).error,
      ).toBe(error);
  });
});

describe('single-expression programs', () => {
  it('a rule, a policy and a match condition are evaluated with their own variables [A456]', () => {
    const schema = C.schemaType({
      type: 'object',
      properties: { min: { type: 'integer' }, max: { type: 'integer' } },
    })!;
    const rule = C.createEnvironment({ libraries: C.librariesOf(), variables: { self: schema.type } });
    expect(
      rule.compile('self.min <= self.max').program!.evaluate({ self: schema.view({ min: 1, max: 2 }) }).value,
    ).toBe(true);

    const request = C.schemaType(
      { type: 'object', properties: { operation: { type: 'string' } } },
      { name: 'Request' },
    )!;
    const policy = C.createEnvironment({
      libraries: C.librariesOf(),
      variables: { object: C.DYN, oldObject: C.DYN, request: request.type },
    });
    const values = {
      object: { spec: { replicas: 3 } },
      oldObject: null,
      request: request.view({ operation: 'CREATE' }),
    };
    expect(policy.compile('object.spec.replicas <= 5 && oldObject == null').program!.evaluate(values).value).toBe(true);
    expect(policy.compile("request.operation != 'DELETE'").program!.evaluate(values).value).toBe(true);
    expect(policy.compile("request.verb == 'x'").errors).toContain("undefined field 'verb'");
    expect(policy.compile('has(object.spec.paused)').program!.evaluate(values).value).toBe(false);
  });
  it('two expressions are refused [A456]', () => {
    expect(at('1.32').compile('true; false').errors).toContain("token recognition error at: ';'");
  });
});

describe('fields that hold expressions', () => {
  it('the documentation lists the variables of each [A457]', () => {
    const readme = readFileSync(new URL('../../core/cel/README.md', import.meta.url), 'utf8');
    for (const { field, variables } of C.EXPRESSION_FIELDS) {
      const row = readme.split('\n').find(line => line.startsWith(`| ${field} |`));
      expect(row, field).toBeDefined();
      for (const name of Object.keys(variables)) expect(row).toContain(`\`${name}\``);
    }
  });
});
