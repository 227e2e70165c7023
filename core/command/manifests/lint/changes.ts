import { type ApiField, type ApiVersion, type Breach, parentOf } from './api.js';

/** The incompatible change of a field, with the fix; undefined if clients of the field continue to work. */
function changeOf(before: ApiField, now: ApiField | undefined): readonly [message: string, fix: string] | undefined {
  if (!now) return ['is gone', 'bring it back: a field ends with its version'];
  if (before.type !== now.type)
    return [`was ${before.type}, and is ${now.type}`, 'bring the type back: change it in a new version'];
  if (now.isRequired && !before.isRequired && !now.hasDefault)
    return ['has become required, and objects may lack it', 'give it a default, or make it optional'];
  const gone = before.values && now.values && [...before.values].find(value => !now.values?.has(value));
  if (gone !== undefined) return [`does not accept ${gone} any more`, 'accept it: values end with their version'];
  if (now.values && !before.values)
    return ['accepts only some values, and accepted all', 'accept all: values end with their version'];
  return undefined;
}

/** Rule 1: elements of a version that clients use must not be removed as long as the version exists. */
export function fieldChanges(before: ApiVersion, now: ApiVersion): Breach[] {
  const found: Breach[] = [];
  const add = (path: string, message: string, fix: string): void =>
    void found.push({ rule: '1', field: now.fieldPath(path), message: `${path} ${message}`, fix });
  for (const [path, field] of before.fields) {
    const parent = now.fields.get(parentOf(path));
    // If a field is removed together with those below it, only this field is reported.
    const isNamed = path !== '' && (!parent || parent.isOpen) && !now.fields.has(path);
    const change = isNamed ? undefined : changeOf(field, now.fields.get(path));
    if (change) add(path, ...change);
  }
  for (const [path, { isRequired, hasDefault }] of now.fields)
    if (isRequired && !hasDefault && !before.fields.has(path) && before.fields.has(parentOf(path)))
      add(path, 'is new and required, and objects lack it', 'give it a default, or make it optional');
  return found;
}
