/** Any class, seen from outside. */
type AnyClass = abstract new (...parameters: never[]) => object;

/**
 * Has `instanceof` recognize instances of the same class from other copies of this package: a plugin may be installed
 * with a copy of its own, and what it throws must mean the same. Subclasses are recognized by their own constructor
 * alone. `name` is the same in all copies, and no other class has it.
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
