import { batch, computed, type ReadonlySignal } from '@preact/signals';
import { type Document, isScalar, isSeq } from 'yaml';
import type { Draft } from '../edit/draft.js';
import { type Path, pathText, problemsOf, readYaml, textOf } from '../edit/yamlText.js';

/** The text of a draft as fields: changes of fields are made in the text, whose comments stay. */
export class FormDraft {
  readonly #document: ReadonlySignal<Document.Parsed>;
  /** Undefined while the text has errors. */
  readonly value: ReadonlySignal<Readonly<Record<string, unknown>> | undefined>;

  constructor(readonly draft: Draft) {
    this.#document = computed(() => readYaml(draft.text.value));
    this.value = computed(() =>
      problemsOf(this.#document.value).length === 0
        ? (this.#document.value.toJS() as Readonly<Record<string, unknown>>)
        : undefined,
    );
  }

  /** Sets a field, and the fields that contain it if there are none. */
  set(path: Path, value: unknown): void {
    this.#change(doc => {
      const old = doc.getIn(path, true);
      // A value that replaces another one keeps comment and style.
      if (isScalar(old) && (typeof value !== 'object' || value === null)) {
        if (typeof old.value !== typeof value) delete old.type;
        old.value = value;
        delete old.source;
      } else doc.setIn(path, typeof value === 'object' ? doc.createNode(value) : value);
    });
  }

  /** Removes a field, or an item of a list. */
  remove(path: Path): void {
    this.#change(doc => doc.hasIn(path) && doc.deleteIn(path));
  }

  /** Moves an item of a list, with its comments, to another place in the list. */
  move(path: Path, from: number, to: number): void {
    this.#change(doc => {
      const list = doc.getIn(path, true);
      if (!isSeq(list)) throw new Error(`${pathText(path)} is an alias of another list: change it in the YAML`);
      list.items.splice(to, 0, ...list.items.splice(from, 1));
    });
  }

  /**
   * Edits the text. In texts with aliases, an edit of a field that is an alias, or that an alias refers to, may fail.
   */
  #change(edit: (doc: Document.Parsed) => void): void {
    const { draft } = this;
    try {
      const doc = readYaml(draft.text.peek());
      edit(doc);
      const text = textOf(doc);
      batch(() => {
        draft.error.value = undefined;
        draft.problems.value = [];
        draft.text.value = text;
      });
    } catch (error) {
      draft.error.value = error;
    }
  }
}
