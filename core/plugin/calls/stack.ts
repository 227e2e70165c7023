/**
 * Returns the text that is logged for a thrown value. A plugin may have thrown it, so that reading it may throw, too.
 */
export function stackOf(thrown: unknown): string {
  try {
    const { stack } = (thrown ?? {}) as Partial<Error>;
    return typeof stack === 'string' ? stack : String(thrown);
  } catch {
    return 'a value that cannot be shown';
  }
}
