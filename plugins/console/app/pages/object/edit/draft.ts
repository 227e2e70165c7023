import { batch, computed, signal } from '@preact/signals';
import { ApiError, type RequestOptions } from '../../../api/http.js';
import { pathOf } from '../../../api/kinds.js';
import type { ApiObject } from '../../../api/objects.js';
import { type ObjectAddress, objectPath } from '../liveObject.js';
import { appliedFields, type ApplyBody, applyBody } from './applyBody.js';
import type { Known } from './completion.js';
import { sendYaml } from './yamlHttp.js';
import { applyChanges, compareThree, type FieldChange, type FieldConflict, type ThreeWay } from './threeWay.js';
import {
  comparedText,
  canonicalText,
  editedText,
  pathIn,
  type Problem,
  problemsOf,
  rangeOf,
  readYaml,
  textOf,
  parseYaml,
} from './yamlText.js';

/** The manager of the fields that are changed in the console. */
export const MANAGER = 'console';

/** How a change is sent: the whole object, or the changed fields to be owned. */
export type SaveMode = 'update' | 'apply';

/** The answer of the server to a write of YAML. */
interface Stored {
  readonly text: string;
  readonly warnings: readonly string[];
}

/** A change that the server has carried out without storing it. */
export interface Review {
  /** The compared versions, without the fields that change with every write. */
  readonly before: string;
  readonly after: string;
  /** The object as it was sent, in the same form. Other differences come from the server. */
  readonly sent: string;
  readonly warnings: readonly string[];
  /** The body that was sent, and the mode. */
  readonly body: string;
  readonly mode: SaveMode;
  readonly force: boolean;
  /** Fields that were removed from the text, and that an apply leaves to their managers. */
  readonly kept: readonly string[];
}

/** A field that an apply would change, and the manager that it belongs to. */
export interface OwnerConflict {
  readonly field: string;
  readonly manager: string;
}

/** The inputs of an apply besides the text. */
export interface ApplyContext {
  readonly known: Known | undefined;
  readonly object: ApiObject | undefined;
}

/** The conflicts of a refused apply; none for other refusals. */
function conflictsIn(error: unknown): OwnerConflict[] {
  const causes = error instanceof ApiError ? (error.status?.details?.causes ?? []) : [];
  return causes
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field = '', message = '' }) => ({ field, manager: /^conflict with "([^"]*)"/.exec(message)?.[1] ?? '' }));
}

/**
 * The managers of an object, by the parts that change when they write: not their fields, which others can take from
 * them.
 */
type Owners = ReadonlyMap<string, string>;

/** A version of the server: the text that is edited, and who owns which fields. */
function readVersion(text: string): { readonly edited: string; readonly owners: Owners } {
  const doc = readYaml(text);
  const { metadata } = doc.toJS() as ApiObject;
  const entries = metadata.managedFields ?? [];
  const owners = new Map(entries.map(({ fieldsV1, ...entry }) => [canonicalText(entry), entry.manager ?? '']));
  return { edited: editedText(doc), owners };
}

/** A newer version, and its conflicts with the edited text. */
export interface Newer {
  readonly text: string;
  /** The managers of its fields. */
  readonly owners: Owners;
  /** The managers whose fields have changed. */
  readonly by: readonly string[];
  readonly changes: readonly FieldChange[];
  readonly conflicts: readonly FieldConflict[];
}

/** The texts of `Warning` headers: `299 - "text"`, with commas between several. */
const warningsIn = (header: string | null): string[] =>
  [...(header ?? '').matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));

async function write(method: string, path: string, body: string, query: RequestOptions['query']): Promise<Stored> {
  const response = await sendYaml(method, path, {
    body,
    ...(method === 'PATCH' ? { contentType: 'application/apply-patch+yaml' } : {}),
    query: { fieldManager: MANAGER, fieldValidation: 'Strict', ...query },
  });
  return { text: await response.text(), warnings: warningsIn(response.headers.get('warning')) };
}

/** A change to an object while it is edited. The text is the only state: editor and form show the same one. */
export class Draft {
  /** The version that is edited, or the first text of a new object. */
  readonly base = signal('');
  readonly text = signal('');
  readonly isDirty = computed(() => this.text.value !== this.base.value);
  /** Set once the object has changed on the server while the text was edited. */
  readonly newer = signal<Newer | undefined>(undefined);
  readonly review = signal<Review | undefined>(undefined);
  readonly problems = signal<readonly Problem[]>([]);
  readonly error = signal<unknown>(undefined);
  readonly isBusy = signal(false);
  readonly mode = signal<SaveMode>('update');
  /** Set once an apply was refused because of other managers. */
  readonly conflicts = signal<readonly OwnerConflict[] | undefined>(undefined);
  /** Whether there is a text to edit. */
  readonly isRead = signal(false);
  #version = '';
  #owners: Owners = new Map();

  constructor(
    readonly address: ObjectAddress,
    readonly isNew = false,
  ) {}

  /** Begins with the text of an object that does not exist yet. */
  begin(text: string): void {
    batch(() => {
      this.base.value = text;
      this.text.value = text;
      this.isRead.value = true;
    });
  }

  /** To be called with each new version of the object on the server. */
  async follow(version: string | undefined): Promise<void> {
    if (version === undefined || version === this.#version) return;
    this.#version = version;
    try {
      const read = await (await sendYaml('GET', objectPath(this.address))).text();
      if (this.#version !== version) return;
      const { edited, owners } = readVersion(read);
      this.#take(edited, owners);
    } catch (error) {
      if (!this.isRead.peek()) this.error.value = error;
    }
  }

  #take(text: string, owners: Owners): void {
    batch(() => {
      const isClean = !this.isRead.peek() || !this.isDirty.peek();
      if (text === this.base.peek()) return;
      this.isRead.value = true;
      if (!isClean) return this.#meet(text, owners);
      this.base.value = text;
      this.#owners = owners;
      this.text.value = text;
      this.newer.value = undefined;
      this.review.value = undefined;
    });
  }

  /** Takes a version that is newer than the one that is edited. */
  #meet(text: string, owners: Owners): void {
    const by = [...owners].filter(([entry]) => !this.#owners.has(entry)).map(([, manager]) => manager);
    const newer = { ...this.#compare(text), owners, by: [...new Set(by)] };
    const review = this.review.peek();
    const isSmall = newer.conflicts.length === 0 && newer.changes.every(({ isOfServer }) => isOfServer);
    this.newer.value = newer;
    this.review.value = undefined;
    if (!isSmall || newer.changes.length === 0) return;
    // Only versions and the status differ, which no user has edited: the text takes them over.
    this.merge(new Set());
    if (review) this.review.value = review.mode === 'apply' ? review : { ...review, body: this.text.peek() };
  }

  #compare(text: string): Omit<Newer, 'owners' | 'by'> {
    try {
      return { text, ...this.#three(parseYaml(this.text.peek()), text) };
    } catch {
      // A text with errors cannot be compared now: it is compared when it is merged.
      return { text, changes: [], conflicts: [] };
    }
  }

  #three(mine: unknown, newest: string): ThreeWay {
    return compareThree(parseYaml(this.base.peek()), mine, parseYaml(newest), this.#hasStatus ? [['status']] : []);
  }

  /** Whether the status is written separately. */
  get #hasStatus(): boolean {
    return this.address.kind.subresources.some(({ name }) => name === 'status');
  }

  /** Discards the edits, and shows the version of the server. */
  discard(): void {
    batch(() => {
      const newest = this.newer.peek()?.text ?? this.base.peek();
      this.#owners = this.newer.peek()?.owners ?? this.#owners;
      this.base.value = newest;
      this.text.value = newest;
      for (const of of [this.newer, this.review, this.error, this.conflicts]) of.value = undefined;
      this.problems.value = [];
    });
  }

  /** Brings the newer version into the text. `mine`: the conflicts that are resolved in favour of the text. */
  merge(mine: ReadonlySet<FieldConflict>): void {
    const newer = this.newer.peek();
    if (!newer) return;
    const doc = readYaml(this.text.peek());
    if (problemsOf(doc).length > 0) {
      this.error.value = new Error('the text has errors: correct them first');
      return;
    }
    const { changes, conflicts } = this.#three(doc.toJS(), newer.text);
    const kept = new Set([...mine].map(({ path }) => path.join('\0')));
    const theirs = conflicts.filter(({ path }) => !kept.has(path.join('\0')));
    applyChanges(doc, [...changes, ...theirs.map(({ path, theirs: value }) => ({ path, value }))]);
    batch(() => {
      this.base.value = newer.text;
      this.#owners = newer.owners;
      this.text.value = textOf(doc);
      for (const of of [this.newer, this.review, this.error, this.conflicts]) of.value = undefined;
    });
  }

  /**
   * Sends the text without storing it, and shows the object that would be stored. `force`: an apply takes over the
   * fields of other managers.
   */
  async check(context: ApplyContext, force = false): Promise<void> {
    await this.#run(async () => {
      const typed = this.text.peek();
      const [problem] = problemsOf(readYaml(typed));
      if (problem) throw new Error(`the text is no YAML of an object: ${problem.message}`);
      const mode = this.isNew ? 'update' : this.mode.peek();
      const { text: body, kept } = mode === 'apply' ? this.#applyBody(context) : { text: typed, kept: [] };
      const { text, warnings } = await this.#send(body, mode, force, { dryRun: 'All' });
      const before = this.isNew ? '' : comparedText(this.base.peek());
      const review = {
        before,
        after: comparedText(text),
        sent: comparedText(typed),
        warnings,
        body,
        mode,
        force,
        kept,
      };
      if (this.text.peek() === typed) this.review.value = review;
    });
  }

  #applyBody({ known, object }: ApplyContext): ApplyBody {
    if (!known || !object) throw new Error('the server describes no fields of this kind: save it as a whole');
    const owned = appliedFields(object, MANAGER);
    return applyBody(this.base.peek(), this.text.peek(), known, owned, this.#hasStatus);
  }

  /** Sends the reviewed text to be stored. Resolves with the text of the stored object; undefined if it was refused. */
  async save(): Promise<string | undefined> {
    let stored: string | undefined;
    await this.#run(async () => {
      const review = this.review.peek();
      const typed = this.text.peek();
      if (!review) return;
      const { text } = await this.#send(review.body, review.mode, review.force, {});
      stored = text;
      const { edited, owners } = readVersion(text);
      batch(() => {
        // Text typed while the request was under way is kept.
        if (this.text.peek() === typed) this.text.value = edited;
        this.base.value = edited;
        this.#owners = owners;
        this.review.value = undefined;
        this.newer.value = undefined;
      });
    });
    return stored;
  }

  #send(body: string, mode: SaveMode, force: boolean, query: RequestOptions['query']): Promise<Stored> {
    const { kind, namespace } = this.address;
    if (mode === 'apply') return write('PATCH', objectPath(this.address), body, { ...query, force });
    if (!this.isNew) return write('PUT', objectPath(this.address), body, query);
    const given = (parseYaml(body) as { readonly metadata?: { readonly namespace?: unknown } }).metadata?.namespace;
    return write('POST', pathOf(kind, typeof given === 'string' ? given : namespace), body, query);
  }

  async #run(work: () => Promise<void>): Promise<void> {
    if (this.isBusy.peek()) return;
    batch(() => {
      this.isBusy.value = true;
      this.error.value = undefined;
      this.conflicts.value = undefined;
      this.problems.value = [];
    });
    try {
      await work();
    } catch (error) {
      await this.#fail(error);
    } finally {
      this.isBusy.value = false;
    }
  }

  async #fail(error: unknown): Promise<void> {
    this.review.value = undefined;
    const conflicts = conflictsIn(error);
    if (conflicts.length > 0) {
      this.conflicts.value = conflicts;
      return;
    }
    if (error instanceof ApiError && error.code === 409 && !this.isNew) {
      this.#version = '';
      // The event of the change may not have arrived yet.
      await this.follow('newest');
      if (this.newer.peek()) return;
    }
    this.error.value = error;
    if (!(error instanceof ApiError)) return;
    const doc = readYaml(this.text.peek());
    this.problems.value = (error.status?.details?.causes ?? [])
      .filter(({ field }) => field)
      .map(({ field = '', message = '' }) => ({ ...rangeOf(doc, pathIn(field)), message: `${field}: ${message}` }));
  }
}

/** A value in few words, for a choice. */
export const shortText = (value: unknown): string => (value === undefined ? 'removed' : canonicalText(value).trim());
