/** A promise with the functions that settle it, as `Promise.withResolvers` of later releases of Node.js returns it. */
export interface Resolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | Promise<T>) => void;
  readonly reject: (error: Error) => void;
}

/** Makes a promise that is settled from outside. */
export function withResolvers<T>(): Resolvers<T> {
  let resolve!: (value: T | Promise<T>) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
