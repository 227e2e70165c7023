const RELEASE = /^(\d{1,9})\.(\d{1,9})$/;

/** Whether a text names a release: `1.4`. */
export const isRelease = (text: string): boolean => RELEASE.test(text);

/**
 * The number of minor releases from one release to another one of the same major version, negative if that is an
 * earlier one; infinite between major versions. Both must be releases.
 */
export function releasesBetween(from: string, to: string): number {
  const [, major = '', minor = ''] = RELEASE.exec(from) ?? [];
  const [, otherMajor = '', otherMinor = ''] = RELEASE.exec(to) ?? [];
  const majors = Number(otherMajor) - Number(major);
  return majors === 0 ? Number(otherMinor) - Number(minor) : majors * Number.POSITIVE_INFINITY;
}

/** Whether a release comes after another one. Both must be releases. */
export const isLater = (release: string, other: string): boolean => releasesBetween(other, release) > 0;
