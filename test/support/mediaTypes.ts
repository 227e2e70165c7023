/** The media type of a JSON merge patch (RFC 7386). */
export const MERGE = 'application/merge-patch+json';
/** The media type of a strategic merge patch (Kubernetes API conventions, "Patch operations"). */
export const STRATEGIC = 'application/strategic-merge-patch+json';
