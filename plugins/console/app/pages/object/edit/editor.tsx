import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput } from '@codemirror/language';
import { syntaxHighlighting } from '@codemirror/language';
import { forceLinting, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { Compartment, EditorState, StateEffect } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { completionOf, fieldAt, type FieldHelp, type Known } from './completion.js';
import { problemsOf, type Problem, readYaml } from './yamlText.js';

/** Colors come from the variables of the page, which reach into the shadow root of the editor. */
const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--ink)', fontSize: '0.8125rem' },
  // The element around the shadow root shows the focus.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)', borderLeftWidth: '2px' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--ink-soft)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent) !important',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-foldPlaceholder': { background: 'var(--sunken)', border: '1px solid var(--line)', color: 'var(--ink-soft)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow)',
    color: 'var(--ink)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--ink)',
  },
  '.cm-completionDetail': { color: 'var(--ink-soft)', fontStyle: 'normal', marginLeft: '1em' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-tooltip.cm-completionInfo': { padding: '8px 10px', maxWidth: '22rem', fontFamily: 'var(--font)' },
  '.cm-diagnostic': { padding: '6px 10px', fontFamily: 'var(--font)' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--bad)' },
  '.cm-lint-marker-error': {
    content: 'none',
    borderRadius: '50%',
    background: 'var(--bad)',
    width: '0.6em',
    height: '0.6em',
  },
  // The policy of the page allows no image in a style.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
  '.cm-gutter-lint': { width: '1em' },
});

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--warn)' },
  { tag: [tags.comment, tags.meta, tags.punctuation, tags.separator], color: 'var(--ink-soft)' },
]);

/** Signals that problems were found elsewhere: the text is checked again, although it has not changed. */
const found = StateEffect.define<null>();

/** Whether the text can be changed, which is known only later. */
const rights = new Compartment();
const rightsOf = (isReadOnly: boolean) => [EditorState.readOnly.of(isReadOnly), EditorView.editable.of(!isReadOnly)];

/**
 * Replaces the selection by the typed text. Left to the browser, text that replaces several lines gets inline
 * styles for a moment, which the policy of the page refuses and reports.
 */
function replaceSelected({ inputType, data }: InputEvent, view: EditorView): boolean {
  const { selection, readOnly } = view.state;
  const { from, to, empty } = selection.main;
  if (inputType !== 'insertText' || data === null || empty || readOnly || view.composing) return false;
  const insert = () =>
    view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some(handle => handle(view, from, to, data, insert))) view.dispatch(insert());
  return true;
}

/** Milliseconds after the last key before a text is checked. */
const CHECK_MS = 200;

/** The properties of an editor. */
export interface EditorProps {
  readonly label: string;
  /** The text: changes are followed in both directions. */
  readonly text: Signal<string>;
  /** Problems found outside of the editor, such as by the server, with their places in the current text. */
  readonly problems: Signal<readonly Problem[]>;
  readonly known: Signal<Known | undefined>;
  readonly isReadOnly: boolean;
  /** Called by Ctrl-S and Cmd-S. */
  readonly save: () => void;
  readonly help: Signal<FieldHelp | undefined>;
}

/** The extensions of an editor. Their callbacks read the properties of the last rendering. */
function extensionsOf(props: { readonly current: EditorProps }) {
  const { label, isReadOnly } = props.current;
  const save = (): boolean => (props.current.save(), true);
  const check = linter(
    ({ state }) =>
      [...problemsOf(readYaml(state.doc.toString())), ...props.current.problems.peek()].map(
        ({ from, to, message }) => ({
          from: Math.min(from, state.doc.length),
          to: Math.min(to, state.doc.length),
          message,
          severity: 'error' as const,
        }),
      ),
    {
      delay: CHECK_MS,
      needsRefresh: ({ transactions }) => transactions.some(({ effects }) => effects.some(is => is.is(found))),
    },
  );
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    yaml(),
    syntaxHighlighting(highlight),
    check,
    autocompletion({ override: [completionOf(() => props.current.known.peek())], icons: false, interactionDelay: 0 }),
    rights.of(rightsOf(isReadOnly)),
    EditorView.domEventHandlers({ beforeinput: replaceSelected }),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    keymap.of([
      { key: 'Mod-s', run: save, preventDefault: true },
      { key: 'Alt-/', run: startCompletion },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...lintKeymap,
      ...defaultKeymap,
    ]),
    theme,
    EditorView.updateListener.of(update => {
      const { text, problems, help, known } = props.current;
      if (update.docChanged) {
        problems.value = [];
        text.value = update.state.doc.toString();
      }
      if (update.docChanged || update.selectionSet) help.value = fieldAt(known.peek(), update.state);
    }),
  ];
}

/** The part in which two texts differ: the cursor stays where it is in the others. Undefined if they are equal. */
function changeTo(before: string, after: string): { from: number; to: number; insert: string } | undefined {
  if (before === after) return undefined;
  const shortest = Math.min(before.length, after.length);
  let from = 0;
  while (from < shortest && before[from] === after[from]) from++;
  let end = 0;
  while (end < shortest - from && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

/** An editor of YAML. It is in a shadow root, where its styles are adopted style sheets. */
export function Editor(props: EditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const current = useRef(props);
  current.current = props;
  const { text, problems, known, isReadOnly, help } = props;
  useEffect(() => {
    const root = parent.current!.shadowRoot ?? parent.current!.attachShadow({ mode: 'open' });
    const made = new EditorView({ doc: text.peek(), extensions: extensionsOf(current), root, parent: root });
    view.current = made;
    const ends = [
      text.subscribe(value => {
        const change = changeTo(made.state.doc.toString(), value);
        if (change) made.dispatch({ changes: change });
      }),
      problems.subscribe(() => {
        made.dispatch({ effects: found.of(null) });
        forceLinting(made);
      }),
      known.subscribe(schema => (help.value = fieldAt(schema, made.state))),
    ];
    return () => {
      for (const end of ends) end();
      made.destroy();
    };
  }, []);
  useEffect(() => view.current?.dispatch({ effects: rights.reconfigure(rightsOf(isReadOnly)) }), [isReadOnly]);
  return <div class="editor" ref={parent} />;
}
