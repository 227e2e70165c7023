let loading: Promise<typeof import('jose')> | undefined;

/** The library for JWTs and JWKs, loaded when it is first needed: most threads never see a token. */
export const jose = (): Promise<typeof import('jose')> => (loading ??= import('jose'));
