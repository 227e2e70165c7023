/** Whether an If-None-Match header lists the tag (RFC 9110, section 13.1.2). Like upstream's, it ignores `*`. */
export const matchesEtag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag) ?? false;

/** The coding gzip, and its quality. */
const GZIP = /^gzip\s*(?:;\s*q=([\d.]+))?$/i;
/** The quality of codings that are not accepted. */
const NEVER = /^0(?:\.0*)?$/;

/** Whether an Accept-Encoding header names gzip (RFC 9110, section 12.5.3). Like upstream's, it ignores `*`. */
export const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  acceptEncoding?.split(',').some(coding => {
    const gzip = GZIP.exec(coding.trim());
    return gzip !== null && !NEVER.test(gzip[1] ?? '1');
  }) ?? false;
