/** Who a request is from (spec 2, "User attributes"). Values are opaque to all but authorizers. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** The identity of a request that carries no credentials. */
export const ANONYMOUS: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: new Map(),
};
