/** What is logged of a thrown value. It may be one of a plugin, so that reading it may throw as well. */
export function stackOf(thrown: unknown): string {
  try {
    const { stack } = (thrown ?? {}) as Partial<Error>;
    return typeof stack === 'string' ? stack : String(thrown);
  } catch {
    return 'a value that cannot be shown';
  }
}
