/**
 * A module hook (node:module, "Customization hooks"): imports of this package that cannot be resolved are resolved to
 * the copy that is running. `ownCopy.ts` registers it; Node.js runs it in a separate thread.
 */
interface Context {
  readonly parentURL?: string | undefined;
}

/** Resolves a module from `context.parentURL`. */
export type Resolve<Result> = (specifier: string, context: Context) => Result | Promise<Result>;

const isOwn = (specifier: string): boolean => specifier === 'capstan' || specifier.startsWith('capstan/');

/**
 * Resolves an import. If an import of this package cannot be resolved from the importing module, it is resolved from
 * here.
 */
export async function resolve<Result>(specifier: string, context: Context, next: Resolve<Result>): Promise<Result> {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!isOwn(specifier) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return await next(specifier, { ...context, parentURL: import.meta.url });
  }
}
