/** A requirement of a label or field selector. `==` is represented as `=`. */
export interface Requirement {
  readonly key: string;
  readonly operator: '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

/** A conjunction of requirements. An empty list selects everything. */
export type Selector = readonly Requirement[];

/** Whether an object is selected. `read` returns its label or field values. */
export type Matcher = (read: (key: string) => string | undefined) => boolean;

const INTEGER = /^-?\d{1,19}$/;

/** Parses a decimal 64-bit integer. Returns undefined for other text. */
export function parseInt64(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** All requirements of one key, so that its value is looked up once. */
class KeyMatcher {
  #mustExist = false;
  #mustBeAbsent = false;
  #allowed: ReadonlySet<string> | undefined;
  readonly #excluded = new Set<string>();
  readonly #comparisons: { readonly greater: boolean; readonly than: bigint | undefined }[] = [];

  constructor(readonly key: string) {}

  require({ operator, values }: Requirement): void {
    switch (operator) {
      case '!':
        this.#mustBeAbsent = true;
        return;
      case '!=':
      case 'notin':
        for (const value of values) this.#excluded.add(value);
        return;
      case '=':
      case 'in': {
        const before = this.#allowed;
        this.#allowed = new Set(before ? values.filter(value => before.has(value)) : values);
        break;
      }
      case 'gt':
      case 'lt':
        this.#comparisons.push({ greater: operator === 'gt', than: parseInt64(values[0] ?? '') });
    }
    this.#mustExist = true;
  }

  matches(value: string | undefined): boolean {
    if (value === undefined) return !this.#mustExist;
    if (this.#mustBeAbsent || this.#excluded.has(value)) return false;
    if (this.#allowed && !this.#allowed.has(value)) return false;
    return this.#comparisons.length === 0 || this.#compares(value);
  }

  #compares(value: string): boolean {
    const number = parseInt64(value);
    if (number === undefined) return false;
    return this.#comparisons.every(
      ({ greater, than }) => than !== undefined && (greater ? number > than : number < than),
    );
  }
}

/** Compiles a selector. A match costs one look-up per key. Absent values match `!=`, `notin` and `!` only. */
export function matcherOf(selector: Selector): Matcher {
  const byKey = new Map<string, KeyMatcher>();
  for (const requirement of selector) {
    let matcher = byKey.get(requirement.key);
    if (!matcher) {
      matcher = new KeyMatcher(requirement.key);
      byKey.set(requirement.key, matcher);
    }
    matcher.require(requirement);
  }
  const matchers = [...byKey.values()];
  return read => matchers.every(matcher => matcher.matches(read(matcher.key)));
}

/** Returns a function that tells whether labels match a selector, which is compiled only once. */
export function labelMatcher(selector: Selector): (labels: { readonly [key: string]: string } | undefined) => boolean {
  const matches = matcherOf(selector);
  return labels => matches(key => (labels && Object.hasOwn(labels, key) ? labels[key] : undefined));
}

/** Whether labels match a selector. */
export const matchesLabels = (selector: Selector, labels: { readonly [key: string]: string } | undefined): boolean =>
  labelMatcher(selector)(labels);
