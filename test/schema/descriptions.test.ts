import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeField, describeType } from '../../core/schema/table/descriptions.js';
import { PACKAGES } from '../../core/schema/table/packages.js';
import { typeOf, typesOfPackage } from '../../core/schema/table/types.js';
// @ts-expect-error: scripts have no types.
import { kindPages } from '../../scripts/docs/kindPages.mjs';

/** The folder with the descriptions, one file for each package. */
const FOLDER = 'core/schema/table/descriptions';
const structs = Object.keys(PACKAGES).flatMap(name => typesOfPackage(name).map(typeOf));
const described = structs.flatMap(struct => [
  { name: struct.id, text: describeType(struct) },
  ...struct.fields.map(field => ({ name: `${struct.id}.${field.name}`, text: describeField(struct, field) })),
]);

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '');
const lastOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

describe('descriptions of built-in kinds', () => {
  it('exist for every type and field, as sentences of at least 25 characters', () => {
    expect(described.length).toBeGreaterThan(3000);
    expect(described.filter(({ text }) => text.length < 25 || !text.endsWith('.'))).toEqual([]);
  });

  it('say more than the name', () => {
    expect(described.filter(({ name, text }) => lettersOf(text) === lettersOf(lastOf(name)))).toEqual([]);
  });

  it('have at most four sentences', () => {
    const sentences = (text: string): number => text.split(/\. (?=[A-Z"$0-9])/).length;
    expect(described.filter(({ text }) => sentences(text) > 4)).toEqual([]);
  });

  it('belong to existing types and fields', () => {
    const names = new Set(structs.map(({ id }) => id));
    const lines = readdirSync(FOLDER)
      .filter(file => file !== 'shared.ts')
      .flatMap(file => readFileSync(join(FOLDER, file), 'utf8').split('\n'));
    let packageName = '';
    let type = '';
    const wrong: string[] = [];
    for (const line of lines) {
      const head = /^ {2}'?([\w.]+)'?: `$/.exec(line)?.[1];
      if (head !== undefined) packageName = head;
      else if (/^[A-Z]\w* /.test(line)) {
        type = `${packageName}.${line.split(' ', 1)[0]}`;
        if (!names.has(type)) wrong.push(type);
      } else if (/^ [^ *]/.test(line) && names.has(type)) {
        const field = line.trim().split(' ', 1)[0]!;
        const sharing = structs.filter(({ id }) => lastOf(id) === lastOf(type));
        const isUsed = [typeOf(type), ...sharing].some(struct => struct.field.has(field));
        if (!isUsed) wrong.push(`${type}.${field}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('are in docs/reference/kinds (npm run reference)', () => {
    const pages = kindPages({ PACKAGES, describeField, describeType, typeOf, typesOfPackage }) as Map<string, string>;
    const folder = 'docs/reference/kinds';
    expect(readdirSync(folder).sort()).toEqual([...pages.keys()].sort());
    for (const [name, text] of pages) expect(readFileSync(join(folder, name), 'utf8'), name).toBe(text);
  });
});
