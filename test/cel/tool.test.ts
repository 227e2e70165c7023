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
  it('a missing file or expression is bad usage', async () => {
    expect((await tool()).code).toBe(2);
    expect((await tool('1', '--data', join(dir, 'absent'))).code).toBe(2);
  });
});
