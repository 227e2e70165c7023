import { durationProblem } from '../../../../core/schema/decode/scalars.js';

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly names: readonly string[];
}

const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Minute, hour, day of the month, month, day of the week. */
const FIELDS: readonly Bounds[] = [
  { least: 0, most: 59, names: [] },
  { least: 0, most: 23, names: [] },
  { least: 1, most: 31, names: [] },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 6, names: DAYS },
];

const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);

/** Returns a number, or the error message as text. */
function numberOf(text: string, names: readonly string[] = []): number | string {
  const named = text === '' ? -1 : names.indexOf(text.toLowerCase());
  if (named >= 0) return named;
  const refuse = (why: string): string =>
    `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`;
  if (!/^[+-]?\d+$/.test(text)) return refuse('invalid syntax');
  const value = Number(text);
  if (Math.abs(value) >= 2 ** 63) return refuse('value out of range');
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value;
}

/** The first and last value of `a`, `a-b` or `*`, or the error message as text. */
function endsOf(range: string, whole: string, { least, most, names }: Bounds): readonly [number, number] | string {
  const parts = range.split('-');
  if (parts[0] === '*' || parts[0] === '?') return [least, most];
  const start = numberOf(parts[0]!, names);
  if (typeof start === 'string') return start;
  if (parts.length > 2) return `too many hyphens: ${whole}`;
  const end = parts.length === 2 ? numberOf(parts[1]!, names) : start;
  return typeof end === 'string' ? end : [start, end];
}

function rangeProblem(whole: string, bounds: Bounds): string | undefined {
  const [range = '', given, ...rest] = whole.split('/');
  const ends = endsOf(range, whole, bounds);
  if (typeof ends === 'string') return ends;
  const step = given === undefined ? 1 : numberOf(given);
  if (typeof step === 'string') return step;
  if (rest.length > 0) return `too many slashes: ${whole}`;
  const start = ends[0];
  const end = given !== undefined && !range.includes('-') ? bounds.most : ends[1];
  if (start < bounds.least) return `beginning of range (${start}) below minimum (${bounds.least}): ${whole}`;
  if (end > bounds.most) return `end of range (${end}) above maximum (${bounds.most}): ${whole}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${whole}`;
  return step === 0 ? `step of range should be a positive number: ${whole}` : undefined;
}

function descriptorProblem(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined;
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`;
  const duration = text.slice('@every '.length);
  const problem = durationProblem(duration);
  return problem && `failed to parse duration ${text}: ${problem}`;
}

/**
 * Returns why a schedule has neither the five fields of cron nor the form of a descriptor; undefined if it is valid.
 */
export function scheduleProblem(schedule: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=(\S*) /.exec(schedule)?.[1] ?? '';
  if (zone !== '' && zone !== 'Local' && !isTimeZone(zone))
    return `provided bad location ${zone}: unknown time zone ${zone}`;
  const text = schedule.replace(/^(?:CRON_)?TZ=\S* */, '').trim();
  if (text.startsWith('@')) return descriptorProblem(text);
  const given = text.split(/\s+/).filter(Boolean);
  if (given.length !== FIELDS.length) return `expected exactly 5 fields, found ${given.length}: [${given.join(' ')}]`;
  for (const [i, bounds] of FIELDS.entries()) {
    for (const range of given[i]!.split(',').filter(Boolean)) {
      const problem = rangeProblem(range, bounds);
      if (problem) return problem;
    }
  }
  return undefined;
}

/** Messages about the name of a time zone (IANA). */
export function timeZoneProblems(name: string): string[] {
  if (name === '') return ['timeZone must be nil or non-empty string'];
  const found: string[] = [];
  if (name.toLowerCase() === 'local')
    found.push('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  return name === 'Local' || isTimeZone(name) ? found : [...found, `unknown time zone ${name}`];
}

/** The first parts of names with several parts. */
const REGIONS =
  /^(?:A(?:frica|merica|ntarctica|rctic|sia|tlantic|ustralia)|Brazil|C(?:anada|hile)|E(?:tc|urope)|Indian|Mexico|Pacific|US)\//;

/** Names that the runtime accepts, but that are not in the time zone database: they were removed, or never in it. */
const UNKNOWN = new Set([
  ...['US/Pacific-New', 'Canada/East-Saskatchewan', 'Etc/Unknown', 'ACT', 'AET', 'AGT', 'ART', 'AST', 'BET', 'BST'],
  ...['CAT', 'CNT', 'CST', 'CTT', 'EAT', 'ECT', 'IET', 'IST', 'JST', 'MIT', 'NET', 'NST', 'PLT', 'PNT', 'PRT', 'PST'],
  ...['SST', 'VST'],
]);

function isTimeZone(name: string): boolean {
  // Names have capital letters, which the runtime ignores. Offsets such as +01:00 are not names.
  if (UNKNOWN.has(name) || (name.includes('/') ? !REGIONS.test(name) : !/^[A-Z]/.test(name))) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
