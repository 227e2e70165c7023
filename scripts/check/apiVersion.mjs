/**
 * Compares two reports of `capstan/api`, and determines the version that a change of the last released interface needs:
 * an addition a greater minor number, a breaking change a greater major number. No I/O.
 */

/** The version before the first release: nobody relies on it yet, so no change needs another version. */
export const FIRST_VERSION = '1.0';

/**
 * Interfaces that only the server implements, so that an additional member breaks no plugin. In all other interfaces
 * only an optional member is an addition.
 */
const SERVER_INTERFACES = new Set([
  '(BaseHost, in core/api/host.d.ts)',
  '(ControlHost, in core/api/host.d.ts)',
  '(InformerHost, in core/api/host.d.ts)',
  'Authentication',
  'Authorization',
  'Change',
  'Contributed',
  'Exchange',
  'Informer',
  'Log',
  'Naming',
  'NewLegacyToken',
  'NewToken',
  'Received',
  'ResourceEvent',
  'ResourceTypes',
  'ReviewContext',
  'StrategyContext',
]);

const OPTIONAL_MEMBER = /^ {4}(readonly )?\w+\?[:(].*;$/;
const MEMBER = /^ {4}(readonly )?\w+\??[:(<].*;$/;

/** The report's sections by name, without the version itself. */
const sectionsOf = text =>
  new Map(
    text
      .split('\n## ')
      .slice(1)
      .map(section => [section.slice(0, section.indexOf('\n')), section.trim()])
      .filter(([name]) => name !== 'API_VERSION'),
  );

/**
 * The lines of `after` that `before` lacks; undefined if `after` lacks lines of `before`, or has them in another order.
 */
function addedLines(before, after) {
  const rest = before.split('\n');
  const added = after.split('\n').filter(line => (line === rest[0] ? (rest.shift(), false) : true));
  return rest.length === 0 ? added : undefined;
}

/** True if a declaration has only gained members that break no plugin. */
function isExtension(name, before, after) {
  const allowed = SERVER_INTERFACES.has(name) ? MEMBER : OPTIONAL_MEMBER;
  return (
    /^(export )?interface /m.test(after) && (addedLines(before, after)?.every(line => allowed.test(line)) ?? false)
  );
}

/** Differences between two reports: names, and whether each difference breaks plugins. */
export function changesOf(before, after) {
  const [old, fresh] = [sectionsOf(before), sectionsOf(after)];
  const changed = [...fresh].filter(([name, text]) => old.has(name) && old.get(name) !== text);
  return [
    ...[...old.keys()].filter(name => !fresh.has(name)).map(name => ({ is: 'removed', name, breaks: true })),
    ...changed.map(([name, text]) => {
      const extends_ = isExtension(name, old.get(name), text);
      return { is: extends_ ? 'extended' : 'changed', name, breaks: !extends_ };
    }),
    ...[...fresh.keys()].filter(name => !old.has(name)).map(name => ({ is: 'added', name, breaks: false })),
  ];
}

const numbersOf = version => version.split('.').map(Number);

/** The version in the first line of a report. */
export const versionOf = report => /^capstan\/api (\d+\.\d+)\n/.exec(report)?.[1] ?? '';

/** The version that the interface needs if the last release had another interface. */
export function neededVersion(released, current) {
  const changes = changesOf(released, current);
  const [major, minor] = numbersOf(versionOf(released));
  if (changes.some(({ breaks }) => breaks)) return `${major + 1}.0`;
  return changes.length > 0 ? `${major}.${minor + 1}` : `${major}.${minor}`;
}

/**
 * The reason why the version of the interface is wrong; '' if it is correct. `released` is the report of the last
 * release, undefined before the first one.
 */
export function versionError(released, current) {
  const version = versionOf(current);
  if (released === undefined)
    return version === FIRST_VERSION
      ? ''
      : `API_VERSION must be ${FIRST_VERSION} until the first release: nobody relies on an earlier interface`;
  const needed = neededVersion(released, current);
  if (version === needed) return '';
  const breaks = changesOf(released, current).filter(change => change.breaks);
  const why = breaks.length > 0 ? ` (${breaks.map(({ is, name }) => `${is}: ${name}`).join(', ')})` : '';
  return `API_VERSION must be ${needed}, as the last release has ${versionOf(released)}${why}; it is ${version}`;
}
