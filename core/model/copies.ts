/** Any class, including abstract ones and those with a private constructor. */
type AnyClass = abstract new (...parameters: never[]) => object;

/**
 * Makes `instanceof` recognize instances of the same class from other copies of this package: a plugin may be installed
 * with its own copy, and its errors must have the same meaning. Subclasses are recognized only by their own
 * constructor. `name` must be the same in all copies, and unique.
 */
export function recognizeCopies(ofClass: AnyClass, name: string): void {
  const mark = Symbol.for(`capstan.${name}`);
  Object.defineProperty(ofClass.prototype, mark, { value: true });
  Object.defineProperty(ofClass, Symbol.hasInstance, {
    value(this: AnyClass, value: unknown): boolean {
      if (this !== ofClass) return Function.prototype[Symbol.hasInstance].call(this, value);
      return value instanceof Error && mark in value;
    },
  });
}
