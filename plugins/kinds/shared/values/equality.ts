import { writeJson } from '../../../../core/model/text/jsonText.js';
import {
  ownValue,
  isAbsent,
  isRecord,
  isSemanticallyEqual,
  type UnknownRecord,
} from '../../../../core/model/record.js';

/** Members that are maps, or objects that are always there: an empty one is the same as none. */
const NEVER_ABSENT: ReadonlySet<string> = new Set([
  'annotations',
  'capacity',
  'labels',
  'limits',
  'matchLabels',
  'metadata',
  'nodeSelector',
  'options',
  'overhead',
  'parameters',
  'podFixed',
  'requests',
  'resources',
  'spec',
  'volumeAttributes',
]);

/**
 * Whether an update leaves a value as it is: like isSemanticallyEqual, except that zero values, and empty objects that
 * may be absent, differ from absent ones. `member` is the name of the value.
 */
export function isUnchanged(a: unknown, b: unknown, member = ''): boolean {
  if (a === b) return true;
  if (isRecord(a) && isRecord(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every(key =>
      isUnchanged(ownValue(a, key), ownValue(b, key), key),
    );
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => isUnchanged(item, b[i], member));
  if ((isRecord(a) && isAbsent(b)) || (isRecord(b) && isAbsent(a)))
    return NEVER_ABSENT.has(member) && isSemanticallyEqual(a, b);
  // Decoded objects have a zero value only in members that can also be absent.
  if (isAbsent(a) !== isAbsent(b) && !Array.isArray(a) && !Array.isArray(b)) return false;
  return isSemanticallyEqual(a, b);
}

/** Maximum length of a difference in a message. */
const DIFFERENCE = 4096;

/** The members of two objects that differ, with their old and new values, for a message. */
export function differenceText(before: UnknownRecord, now: UnknownRecord): string {
  const lines = [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter(member => !isUnchanged(before[member], now[member], member))
    .flatMap(member => [`- ${member}: ${writeJson(before[member])}`, `+ ${member}: ${writeJson(now[member])}`]);
  return `${lines.join('\n').slice(0, DIFFERENCE)}\n`;
}
