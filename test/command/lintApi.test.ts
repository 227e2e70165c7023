import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lintApiCommand } from '../../core/command/manifests/lintApi.js';
import { Captured } from './server.js';

const folder = mkdtempSync(join(tmpdir(), 'capstan-lint-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function fileWith(content: unknown): string {
  const file = join(folder, `${files++}.yaml`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const text = { type: 'string' };
const schemaOf = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, ...(required.length > 0 && { required }) } },
});

interface VersionGiven {
  readonly name: string;
  readonly [member: string]: unknown;
}

/** A definition. The first version is the storage version unless another one is marked as such. */
function definition(versions: readonly VersionGiven[], spec: object = {}): object {
  const hasStored = versions.some(({ storage }) => storage === true);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'orders.tea.example.com' },
    spec: {
      group: 'tea.example.com',
      scope: 'Namespaced',
      names: { plural: 'orders', kind: 'Order' },
      versions: versions.map(({ fields = { cups: text }, required, ...version }, i) => ({
        served: true,
        storage: !hasStored && i === 0,
        schema: { openAPIV3Schema: schemaOf(fields as object, required as readonly string[] | undefined) },
        ...version,
      })),
      ...spec,
    },
  };
}

async function lint(now: unknown, old?: unknown, ...flags: readonly string[]) {
  const io = new Captured();
  const against = old === undefined ? [] : [`--against=${fileWith(old)}`];
  const file = fileWith(now);
  const code = await lintApiCommand([file, ...against, ...flags], io);
  const prefix = `${file}: document 1: orders.tea.example.com: `;
  return { code, lines: io.lines.map(line => line.replace(prefix, '')), text: io.lines.join('\n'), file };
}

const found = async (now: unknown, old?: unknown): Promise<readonly string[]> => {
  const { code, lines } = await lint(now, old);
  expect(code).toBe(lines.length > 0 ? 1 : 0);
  return lines;
};

const SCHEMA = 'schema.openAPIV3Schema.properties[spec]';

describe('a definition', () => {
  it('that follows the rules passes', async () => {
    const now = definition([{ name: 'v1' }, { name: 'v1beta1', deprecated: true }]);
    expect(await found(now)).toEqual([]);
    expect(await found(now, definition([{ name: 'v1beta1' }, { name: 'v1' }]))).toEqual([]);
  });

  it.each([
    [
      [{ name: 'first' }],
      ['spec.versions[0].name: rule 4a: first does not say how stable it is: name it as v1, v1beta1 or v1alpha1'],
    ],
    [
      [
        { name: 'v1', storage: true },
        { name: 'v1beta1', storage: true },
      ],
      ['spec.versions: rule 4b: 2 versions are stored: set storage: true on exactly one'],
    ],
    [
      [{ name: 'v1', deprecated: true }, { name: 'v2beta1' }],
      [
        'spec.versions[0].deprecated: rule 3: v1 is deprecated, and no version that is as stable stays: ' +
          'serve a version that is as stable before you deprecate this one',
      ],
    ],
    [
      [
        { name: 'v1' },
        {
          name: 'v1beta1',
          deprecated: true,
          deprecationWarning: 'tea.example.com/v1beta1 Order is deprecated in v1.4+, unavailable in v1.6+; use v1',
        },
      ],
      [
        'spec.versions[1]: rule 4a: v1beta1 ends in 1.6, less than 3 releases after 1.4, which deprecates it: ' +
          'let it end later',
      ],
    ],
  ] as const)('is reported for its versions: %j', async (versions, lines) => {
    expect(await found(definition(versions))).toEqual(lines);
  });

  it('must not lose fields between versions, unless a webhook converts or unknown fields are kept [R381x] [R425]', async () => {
    const versions = [
      { name: 'v2', fields: { cups: text, host: { type: 'object', properties: { name: text } } } },
      { name: 'v1', fields: { cups: { type: 'integer' } } },
    ];
    expect(await found(definition(versions))).toEqual([
      `spec.versions[0].${SCHEMA}.properties[cups]: rule 2: spec.cups is string in v2, and integer in v1: it is lost ` +
        'on the way: give it to all versions, or convert with a webhook',
      `spec.versions[0].${SCHEMA}.properties[host]: rule 2: spec.host is object in v2, and absent in v1: it is lost ` +
        'on the way: give it to all versions, or convert with a webhook',
      `spec.versions[1].${SCHEMA}.properties[cups]: rule 2: spec.cups is integer in v1, and string in v2: it is lost ` +
        'on the way: give it to all versions, or convert with a webhook',
    ]);
    expect(await found(definition(versions, { conversion: { strategy: 'Webhook' } }))).toEqual([]);
    const open = {
      type: 'object',
      properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    };
    expect(await found(definition([versions[0]!, { name: 'v1', schema: { openAPIV3Schema: open } }]))).toEqual([]);
    const third = { name: 'v3', fields: { cups: text } };
    const [first, ...others] = await found(definition([...versions, third]));
    // Each field is reported once for a version.
    expect([first, others.length]).toEqual([
      expect.stringContaining('spec.cups is string in v2, and integer in v1'),
      3,
    ]);
  });
});

describe('the next release of a definition', () => {
  const v1 = (fields: object, required: readonly string[] = []) => definition([{ name: 'v1', fields, required }]);

  it.each([
    [v1({}), ['spec.cups is gone: bring it back: a field ends with its version']],
    [
      v1({ cups: { type: 'integer' } }),
      ['spec.cups was string, and is integer: bring the type back: change it in a new version'],
    ],
    [
      v1({ cups: text }, ['cups']),
      ['spec.cups has become required, and objects may lack it: give it a default, or make it optional'],
    ],
    [
      v1({ cups: text, tea: text }, ['tea']),
      ['spec.tea is new and required, and objects lack it: give it a default, or make it optional'],
    ],
    [
      v1({ cups: { ...text, enum: ['1'] } }),
      ['spec.cups accepts only some values, and accepted all: accept all: values end with their version'],
    ],
    [v1({ cups: { ...text, default: '1' }, tea: { ...text, default: 'green' } }, ['cups', 'tea']), []],
  ] as const)('keeps the fields of a version [R380x]: %#', async (now, messages) => {
    const lines = await found(now, v1({ cups: text }));
    expect(lines.map(line => line.slice(line.indexOf('rule 1: ') + 8))).toEqual(messages);
  });

  it('keeps the values of a field, and does not report fields below a removed one [R426]', async () => {
    const [values] = await found(v1({ cups: { ...text, enum: ['1'] } }), v1({ cups: { ...text, enum: ['1', '2'] } }));
    expect(values).toContain('spec.cups does not accept "2" any more');
    const host = { type: 'object', properties: { name: text } };
    expect(await found(v1({}), v1({ host }))).toHaveLength(1);
  });

  it('may change or remove an alpha version [R386]', async () => {
    const alpha = definition([{ name: 'v1alpha1' }]);
    expect(await found(definition([{ name: 'v1alpha1', fields: {} }]), alpha)).toEqual([]);
    expect(
      await found(
        definition([
          { name: 'v1alpha2', storage: true },
          { name: 'v1alpha1', served: false },
        ]),
        alpha,
      ),
    ).toEqual([]);
  });

  it.each([
    [
      'removes a stable version',
      [{ name: 'v2' }, { name: 'v1', served: false }],
      [{ name: 'v2' }, { name: 'v1' }],
      ['spec.versions[1].served: rule 4a: v1 is stable, and is not served any more: serve it again'],
    ],
    [
      'removes a beta version that was not deprecated',
      [{ name: 'v1' }],
      [{ name: 'v1' }, { name: 'v1beta1' }],
      [
        'spec.versions: rule 4a: v1beta1 is not served any more, and was not deprecated before: ' +
          'serve it with deprecated: true for 3 releases',
      ],
    ],
    [
      'removes a beta version that was deprecated',
      [{ name: 'v1' }],
      [{ name: 'v1' }, { name: 'v1beta1', deprecated: true }],
      [],
    ],
    [
      'stores a new version at once',
      [{ name: 'v1' }, { name: 'v1beta1' }],
      [{ name: 'v1beta1' }],
      [
        'spec.versions[0].storage: rule 4b: v1 is stored at once: the release before cannot read it after a ' +
          'rollback: store v1beta1 in the first release that serves v1',
      ],
    ],
    [
      'drops the version that was stored',
      [{ name: 'v1' }],
      [{ name: 'v1beta1', deprecated: true }, { name: 'v1' }],
      [
        'spec.versions: rule 4b: v1beta1 is gone, and objects may be stored in it: ' +
          'keep it with served: false until a migration has removed it from status.storedVersions',
      ],
    ],
    [
      'adds a beta version after the stable one',
      [{ name: 'v1' }, { name: 'v1beta2' }],
      [{ name: 'v1' }],
      ['spec.versions[1].name: rule 3: v1beta2 is added after v1, which is stable: give it a higher number'],
    ],
  ] as const)('%s [R387] [R388]', async (_what, now, old, lines) => {
    expect(await found(definition(now), definition(old))).toEqual(lines);
  });

  it('must keep scope and kind, and the definition itself', async () => {
    const one = [{ name: 'v1' }];
    const changed = definition(one, { scope: 'Cluster', names: { kind: 'Wish', plural: 'orders' } });
    expect((await found(changed, definition(one))).map(line => line.split(':')[0])).toEqual([
      'spec.names.kind',
      'spec.scope',
    ]);
    const { text: printed } = await lint('kind: Other', definition(one));
    expect(printed).toContain(
      'orders.tea.example.com: spec.versions: rule 4a: v1 is stable, and is not served any more',
    );
  });
});

describe('capstan lint-api', () => {
  it('prints JSON, and the position of each finding', async () => {
    const { code, text: printed, file } = await lint(definition([{ name: 'first' }]), undefined, '-o', 'json');
    expect(code).toBe(1);
    expect(JSON.parse(printed)).toEqual([
      {
        file,
        document: 1,
        definition: 'orders.tea.example.com',
        rule: '4a',
        field: 'spec.versions[0].name',
        message: 'first does not say how stable it is',
        fix: 'name it as v1, v1beta1 or v1alpha1',
      },
    ]);
    expect((await lint(definition([{ name: 'v1' }]), undefined, '-o', 'json')).text).toBe('[]');
  });

  it('refuses files without definitions, and old definitions', async () => {
    for (const none of ['kind: Other', 'kind: List', 'kind: List\nitems: [1, null]', ''])
      await expect(lint(none)).rejects.toThrow('there is no CustomResourceDefinition');
    const old = { ...definition([{ name: 'v1' }]), apiVersion: 'apiextensions.k8s.io/v1beta1' };
    await expect(lint(old)).rejects.toThrow('rewrite the file with capstan convert');
    await expect(lint(definition([]), undefined, '-o', 'xml')).rejects.toThrow('--output: must be text or json');
    await expect(lintApiCommand([], new Captured())).rejects.toThrow('--filename: needs a value');
    await expect(lintApiCommand(['--against=none.yaml', fileWith('a: 1')], new Captured())).rejects.toThrow(
      'cannot read',
    );
  });
});
