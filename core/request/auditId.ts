const AUDIT_ID = /^[\x21-\x7e]{1,128}$/;

/** The audit id that a client chose with the header Audit-ID; undefined if it is not short and printable. */
export const givenAuditId = (header: string | undefined): string | undefined =>
  header !== undefined && AUDIT_ID.test(header) ? header : undefined;
