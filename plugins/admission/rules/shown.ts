import type { Change, EquivalentKind, ServedKind } from '../../../core/api/admission.js';
import type { ApiObject } from '../../../core/model/object.js';

/** The objects of a change: those in the version of the request, and in the versions that rules select. */
export class Shown {
  readonly #converted = new Map<string, Promise<ShownIn> | ShownIn>();

  constructor(
    readonly change: Change,
    /** The draft, or the object that validators are given. */
    readonly source: ApiObject | undefined,
  ) {}

  #object: ApiObject | undefined | null = null;
  #old: ApiObject | undefined | null = null;

  get object(): ApiObject | undefined {
    if (this.#object === null) this.#object = this.change.view.show(this.source);
    return this.#object;
  }

  get old(): ApiObject | undefined {
    if (this.#old === null) this.#old = this.change.view.showOld();
    return this.#old;
  }

  /** The objects in the version of a match. Throws or rejects with the Refusal of a conversion. */
  in(matched: ServedKind): Promise<ShownIn> | ShownIn {
    const other = 'convert' in matched ? (matched as EquivalentKind) : undefined;
    if (!other) return { object: this.object, old: this.old };
    const key = `${other.kind.group}/${other.kind.version}`;
    const known = this.#converted.get(key);
    if (known) return known;
    const converted = this.#convert(other);
    this.#converted.set(key, converted);
    return converted;
  }

  async #convert(to: EquivalentKind): Promise<ShownIn> {
    const [object, old] = await Promise.all([this.object && to.convert(this.object), this.old && to.convert(this.old)]);
    return { object, old };
  }
}

/** The objects of a change in one version. */
export interface ShownIn {
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
}
