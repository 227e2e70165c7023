/**
 * A module hook (node:module, "Customization hooks"): imports of this package that find no copy of it lead to the copy
 * that runs. It is loaded by `ownCopy.ts`, in a thread of Node's own.
 */
interface Context {
  readonly parentURL?: string | undefined;
}

/** Resolves a module from `context.parentURL`. */
export type Resolve<Result> = (specifier: string, context: Context) => Result | Promise<Result>;

const isOwn = (specifier: string): boolean => specifier === 'capstan' || specifier.startsWith('capstan/');

/** Resolves an import, that of this package from here if it is not found from the importing module. */
export async function resolve<Result>(specifier: string, context: Context, next: Resolve<Result>): Promise<Result> {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!isOwn(specifier) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return await next(specifier, { ...context, parentURL: import.meta.url });
  }
}
