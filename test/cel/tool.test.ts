import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCelTool } from '../../core/cel/tool.js';

const dir = mkdtempSync(join(tmpdir(), 'cel-'));
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
afterAll(() => rmSync(dir, { recursive: true }));

const data = file('data.yaml', 'spec:\n  replicas: 3\n  name: web\n');
const crd = file(
  'crd.yaml',
  `kind: CustomResourceDefinition
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: { type: integer }
              name: { type: string, maxLength: 10 }
`,
);

async function tool(...argv: string[]) {
  let out = '';
  let err = '';
  const code = await runCelTool(argv, { stdout: { write: t => (out += t) }, stderr: { write: t => (err += t) } });
  return { code, out, err };
}

describe('capstan cel', () => {
  it('prints type, value, estimated and actual cost', async () => {
    expect(await tool('self.spec.replicas + 1', '--data', data, '--schema', crd)).toEqual({
      code: 0,
      out: 'type: int\nvalue: 4\nestimated cost: 4\nactual cost: 4\n',
      err: '',
    });
  });
  it('prints an estimate with bounds as a range', async () => {
    const { out } = await tool("self.spec.name.contains('e')", `--data=${data}`, `--schema=${crd}`);
    expect(out).toMatch(/^type: bool\nvalue: true\nestimated cost: \d+ to \d+\nactual cost: \d+\n$/);
  });
  it('prints the errors of a text with carets', async () => {
    expect(await tool('self.spec.replicas + self.nope', '--data', data, '--schema', crd)).toEqual({
      code: 1,
      out: '',
      err: `ERROR: <input>:1:26: undefined field 'nope'\n | self.spec.replicas + self.nope\n | ${'.'.repeat(25)}^\n`,
    });
  });
  it('prints an error of the evaluation, and works without a schema', async () => {
    const { code, out, err } = await tool('1 / self.zero', '--data', file('zero.yaml', 'zero: 0\n'));
    expect({ code, err }).toEqual({ code: 1, err: 'error: division by zero\n' });
    expect(out).toContain('actual cost: ');
  });
  it('prints the result of every expression of a table, in order', async () => {
    const table = {
      schema: { type: 'object', properties: { i: { type: 'integer' } } },
      self: '{"i": 9223372036854775807}',
    };
    const cases = [{ expr: 'self.i' }, { expr: 'self.i + 1' }, { expr: 'self.j' }];
    const { code, out } = await tool('--tables', file('tables.json', JSON.stringify([{ ...table, cases }])));
    expect(code).toBe(0);
    expect(
      out
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual([
      { expr: 'self.i', result: '= 9223372036854775807' },
      { expr: 'self.i + 1', result: 'error: integer overflow' },
      { expr: 'self.j', result: "compile: ERROR: <input>:1:10: undefined field 'j'" },
    ]);
  });
  it('evaluates with the libraries of another release', async () => {
    expect((await tool('[1].all(i, v, v > i)')).code).toBe(1);
    expect((await tool('[1].all(i, v, v > i)', '--compatibility-version', '1.33')).out).toContain('value: true');
    expect((await tool('1', '--compatibility-version', 'new')).code).toBe(2);
  });
  it('--help prints the usage', async () => {
    expect(await tool('--help')).toEqual({
      code: 0,
      out: expect.stringContaining('usage: capstan cel EXPRESSION'),
      err: '',
    });
  });
  it('a missing file or expression is a usage error', async () => {
    expect((await tool()).code).toBe(2);
    expect((await tool('1', '--data', join(dir, 'absent'))).code).toBe(2);
  });
});
