import { batch, computed, signal } from '@preact/signals';
import { ApiError, type RequestOptions, send } from '../../../api/http.js';
import { pathOf } from '../../../api/kinds.js';
import { type ObjectAddress, objectPath } from '../liveObject.js';
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
  valueOf,
} from './yamlText.js';

const YAML = 'application/yaml';
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
  /** The versions that are compared, without what changes with every write. */
  readonly before: string;
  readonly after: string;
  /** The object as it was sent, in the same form: what else differs was set by the server. */
  readonly sent: string;
  readonly warnings: readonly string[];
  /** What was sent. */
  readonly body: string;
}

/** A newer version, and how it fits to what was edited. */
export interface Newer {
  readonly text: string;
  readonly changes: readonly FieldChange[];
  readonly conflicts: readonly FieldConflict[];
}

/** The texts of `Warning` headers: `299 - "text"`, with commas between several. */
export const warningsIn = (header: string | null): string[] =>
  [...(header ?? '').matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));

async function write(method: string, path: string, body: string, query: RequestOptions['query']): Promise<Stored> {
  const contentType = method === 'PATCH' ? 'application/apply-patch+yaml' : YAML;
  const response = await send(method, path, {
    body,
    contentType,
    accept: YAML,
    query: { fieldManager: MANAGER, fieldValidation: 'Strict', ...query },
  });
  return { text: await response.text(), warnings: warningsIn(response.headers.get('warning')) };
}

/** A change to an object while it is edited. The text is the only state: editor and form show the same one. */
export class Draft {
  /** The version that is edited; '' for a new object. */
  readonly base = signal('');
  readonly text = signal('');
  readonly isDirty = computed(() => this.text.value !== this.base.value);
  /** Set once the object has changed on the server while the text was edited. */
  readonly newer = signal<Newer | undefined>(undefined);
  readonly review = signal<Review | undefined>(undefined);
  readonly problems = signal<readonly Problem[]>([]);
  readonly error = signal<unknown>(undefined);
  readonly isBusy = signal(false);
  /** Whether there is a text to edit. */
  readonly isRead = signal(false);
  #version = '';

  constructor(
    readonly address: ObjectAddress,
    readonly isNew = false,
  ) {}

  /** Begins with a text that is nowhere yet. */
  begin(text: string): void {
    batch(() => {
      this.text.value = text;
      this.isRead.value = true;
    });
  }

  /** Takes notice of a version of the object on the server. */
  async follow(version: string | undefined): Promise<void> {
    if (version === undefined || version === this.#version) return;
    this.#version = version;
    try {
      const read = await (await send('GET', objectPath(this.address), { accept: YAML })).text();
      if (this.#version === version) this.#take(editedText(read));
    } catch (error) {
      if (!this.isRead.peek()) this.error.value = error;
    }
  }

  #take(text: string): void {
    batch(() => {
      const isClean = !this.isRead.peek() || !this.isDirty.peek();
      if (text === this.base.peek()) return;
      this.isRead.value = true;
      if (!isClean) return this.#meet(text);
      this.base.value = text;
      this.text.value = text;
      this.newer.value = undefined;
      this.review.value = undefined;
    });
  }

  /** Takes a version that is newer than the one that is edited. */
  #meet(text: string): void {
    const newer = this.#compare(text);
    const review = this.review.peek();
    const isSmall = newer.conflicts.length === 0 && newer.changes.every(({ isOfServer }) => isOfServer);
    this.newer.value = newer;
    this.review.value = undefined;
    if (!isSmall || newer.changes.length === 0) return;
    // Nothing that anybody has decided: versions, and a status. The text goes on with them.
    this.merge(new Set());
    if (review) this.review.value = { ...review, body: this.text.peek() };
  }

  #compare(text: string): Newer {
    try {
      return { text, ...this.#three(valueOf(this.text.peek()), text) };
    } catch {
      // A text with errors cannot be compared; it is when it is merged.
      return { text, changes: [], conflicts: [] };
    }
  }

  #three(mine: unknown, newest: string): ThreeWay {
    const hasStatus = this.address.kind.subresources.some(({ name }) => name === 'status');
    return compareThree(valueOf(this.base.peek()), mine, valueOf(newest), hasStatus ? [['status']] : []);
  }

  /** Goes back to what the server has. */
  discard(): void {
    batch(() => {
      const newest = this.newer.peek()?.text ?? this.base.peek();
      this.base.value = newest;
      this.text.value = newest;
      for (const of of [this.newer, this.review, this.error]) of.value = undefined;
      this.problems.value = [];
    });
  }

  /** Brings the newer version into the text. `mine`: which of the conflicts are decided for the text. */
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
      this.text.value = textOf(doc);
      for (const of of [this.newer, this.review, this.error]) of.value = undefined;
    });
  }

  /** Sends the text without storing it, and shows what would be stored. */
  async check(): Promise<void> {
    await this.#run(async () => {
      const body = this.text.peek();
      const [problem] = problemsOf(readYaml(body));
      if (problem) throw new Error(`the text is no YAML of an object: ${problem.message}`);
      const { text, warnings } = await this.#send(body, { dryRun: 'All' });
      const before = this.isNew ? '' : comparedText(this.base.peek());
      const review = { before, after: comparedText(text), sent: comparedText(body), warnings, body };
      if (this.text.peek() === body) this.review.value = review;
    });
  }

  /** Stores what was checked. Resolves with the stored object's text, or with undefined if it was refused. */
  async save(): Promise<string | undefined> {
    let stored: string | undefined;
    await this.#run(async () => {
      const body = this.review.peek()?.body ?? this.text.peek();
      const { text } = await this.#send(body, {});
      stored = text;
      batch(() => {
        const edited = editedText(text);
        // What was typed meanwhile stays.
        if (this.text.peek() === body) this.text.value = edited;
        this.base.value = edited;
        this.review.value = undefined;
        this.newer.value = undefined;
      });
    });
    return stored;
  }

  #send(body: string, query: RequestOptions['query']): Promise<Stored> {
    const { kind, namespace } = this.address;
    if (!this.isNew) return write('PUT', objectPath(this.address), body, query);
    const given = (valueOf(body) as { readonly metadata?: { readonly namespace?: unknown } }).metadata?.namespace;
    return write('POST', pathOf(kind, typeof given === 'string' ? given : namespace), body, query);
  }

  async #run(work: () => Promise<void>): Promise<void> {
    if (this.isBusy.peek()) return;
    batch(() => {
      this.isBusy.value = true;
      this.error.value = undefined;
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
    if (error instanceof ApiError && error.code === 409 && !this.isNew) {
      this.#version = '';
      // The watch may not have told yet what has changed.
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
