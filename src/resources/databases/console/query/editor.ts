// The editor of statements: SQL in colors, completion, and a mark where the engine found a fault.
import { autocompletion, closeCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { MySQL, PostgreSQL, sql, type SQLNamespace } from "@codemirror/lang-sql";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { type Editor, type EditorState, placeOf } from "./plain-editor.ts";
import type { Protocol } from "./protocol.ts";

/** What the page gets to know of its editor. */
interface Listener {
  run(): void;
  focused(): void;
}

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--color-accent)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--color-good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--color-work)" },
  { tag: tags.typeName, color: "var(--color-rest)" },
  { tag: tags.comment, color: "var(--color-soft)", fontStyle: "italic" },
]);

const theme = EditorView.theme({
  "&": {
    color: "var(--color-ink)",
    backgroundColor: "var(--color-panel)",
    border: "1px solid var(--color-edge)",
    borderRadius: "var(--radius-md)",
    fontSize: "13px",
  },
  "&.cm-focused": { outline: "2px solid var(--color-accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", minHeight: "9rem", maxHeight: "24rem", overflow: "auto" },
  ".cm-content": { caretColor: "var(--color-ink)", padding: "10px 4px" },
  ".cm-placeholder": { color: "var(--color-soft)" },
  ".cm-fault": {
    textDecoration: "underline wavy var(--color-bad)",
    backgroundColor: "var(--color-bad-tint)",
  },
  ".cm-tooltip": {
    border: "1px solid var(--color-line)",
    borderRadius: "var(--radius-md)",
    backgroundColor: "var(--color-panel)",
    color: "var(--color-ink)",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--color-accent)",
    color: "var(--color-on-accent)",
  },
});

const setFault = StateEffect.define<{ from: number; to: number } | null>();

/** A mark stays until the text changes. */
const faults = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { docChanged, effects }) {
    for (const effect of effects) {
      if (!effect.is(setFault)) continue;
      const place = effect.value;
      return place === null
        ? Decoration.none
        : Decoration.set(Decoration.mark({ class: "cm-fault" }).range(place.from, place.to));
    }
    return docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class StatementEditor implements Editor {
  readonly #view: EditorView;
  readonly #language = new Compartment();
  /** Where the latest statement began in the text. */
  #offset = 0;

  /**
   * The editor is in a shadow root: there its styles are constructed sheets, which the policy of the page allows, and
   * anywhere else a `<style>` in the page, which the policy refuses.
   */
  constructor(host: HTMLElement, listener: Listener, { text, anchor, head, offset }: EditorState) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.#view = new EditorView({
      parent: root,
      root,
      doc: text,
      selection: { anchor, head },
      extensions: extensionsFor(listener, this.#language.of([])),
    });
    this.#offset = offset;
  }

  focus(): void {
    this.#view.focus();
  }

  takeStatement(): string {
    const { state } = this.#view;
    const { from, to, empty } = state.selection.main;
    this.#offset = empty ? 0 : from;
    closeCompletion(this.#view);
    this.mark(null);
    return empty ? state.doc.toString() : state.sliceDoc(from, to);
  }

  replaceText(text: string): void {
    const { length } = this.#view.state.doc;
    this.#view.dispatch({ changes: { from: 0, to: length, insert: text } });
    this.#view.focus();
  }

  mark(position: number | null, statement = ""): void {
    if (position === null) return this.#view.dispatch({ effects: setFault.of(null) });
    const from = Math.min(placeOf(position, statement, this.#offset), this.#view.state.doc.length);
    const word = this.#view.state.wordAt(from);
    const to = word !== null && word.to > from ? word.to : Math.min(from + 1, this.#view.state.doc.length);
    const effects = from < to ? [setFault.of({ from, to })] : [];
    this.#view.dispatch({ effects, selection: { anchor: from }, scrollIntoView: true });
    this.#view.focus();
  }

  /** Completes the words of a dialect, and the names of tables and columns. */
  complete(protocol: Protocol, schema: SQLNamespace): void {
    const dialect = protocol === "mysql" ? MySQL : PostgreSQL;
    const defaultSchema = protocol === "mysql" ? {} : { defaultSchema: "public" };
    this.#view.dispatch({
      effects: this.#language.reconfigure(sql({ dialect, schema, ...defaultSchema })),
    });
  }

  destroy(): void {
    this.#view.destroy();
  }
}

function extensionsFor({ run, focused }: Listener, language: Extension): Extension[] {
  const runKey = {
    key: "Mod-Enter",
    run: () => {
      run();
      return true;
    },
  };
  return [
    // Tab is not bound, so that the keyboard leads out of the editor.
    keymap.of([runKey, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    language,
    history(),
    autocompletion({ icons: false }),
    faults,
    syntaxHighlighting(colors),
    theme,
    EditorView.lineWrapping,
    placeholder("select …"),
    EditorView.contentAttributes.of({ "aria-label": "Statement" }),
    EditorView.domEventHandlers({ focus: () => focused(), beforeinput: replaceSelected }),
  ];
}

/**
 * Replaces the selected text by typed text. The browser itself would take the colored words out of the page one by one,
 * which takes it half a minute for a long statement.
 */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const { state } = view;
  if (event.inputType !== "insertText" || event.data === null || state.selection.main.empty) return false;
  if (event.isComposing) return false;
  event.preventDefault();
  const typed = { userEvent: "input.type", scrollIntoView: true };
  view.dispatch(state.update(state.replaceSelection(event.data), typed));
  return true;
}
