import type { ResourceType, ResourceVersion } from '../../api/resource.js';

const RELEASE = /^(\d{1,9})\.(\d{1,9})$/;

/** Whether a text names a release: `1.4`. */
export const isRelease = (text: string): boolean => RELEASE.test(text);

/** Whether a release comes after another one. Both must be releases. */
export function isLater(release: string, other: string): boolean {
  const [, major = '', minor = ''] = RELEASE.exec(release) ?? [];
  const [, otherMajor = '', otherMinor = ''] = RELEASE.exec(other) ?? [];
  return Number(major) - Number(otherMajor) > 0 || (major === otherMajor && Number(minor) > Number(otherMinor));
}

/** Whether a version is served: no version is that the release of the type, or an earlier one, removes. */
export const isServed = ({ release }: Pick<ResourceType, 'release'>, version: ResourceVersion): boolean =>
  version.served && (release === undefined || version.removedIn === undefined || isLater(version.removedIn, release));

/** Whether a version is deprecated in the release of the type. */
export const isDeprecated = ({ release }: Pick<ResourceType, 'release'>, { deprecated }: ResourceVersion): boolean =>
  deprecated !== undefined && (release === undefined || !isLater(deprecated, release));
