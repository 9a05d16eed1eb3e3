// The editor of statements until the code of the full editor has come, which a first visit does not load: a text area
// that does the same without colors and completion.

/** What the page asks of its editor. */
export interface Editor {
  /** The selected text, or all of it where nothing is selected. */
  takeStatement(): string;
  replaceText(text: string): void;
  /** Marks the word at a character of the latest statement, counted from 1, and leads the cursor there. */
  mark(position: number | null, statement?: string): void;
}

/** What one editor hands to the next. */
export interface EditorState {
  text: string;
  /** The selection. */
  anchor: number;
  head: number;
  /** Where the latest statement began in the text. */
  offset: number;
}

/** Where the marked character is in the text of an editor. @param position counted in characters, from 1. */
export function placeOf(position: number, statement: string, offset: number): number {
  const before = Array.from(statement).slice(0, position - 1);
  return offset + before.join("").length;
}

export class PlainEditor implements Editor {
  readonly #area: HTMLTextAreaElement;
  #offset = 0;
  #isComposing = false;

  constructor(area: HTMLTextAreaElement) {
    this.#area = area;
    area.addEventListener("compositionstart", () => void (this.#isComposing = true));
    area.addEventListener("compositionend", () => void (this.#isComposing = false));
  }

  takeStatement(): string {
    const { value, selectionStart, selectionEnd } = this.#area;
    const isEmpty = selectionStart === selectionEnd;
    this.#offset = isEmpty ? 0 : selectionStart;
    return isEmpty ? value : value.slice(selectionStart, selectionEnd);
  }

  replaceText(text: string): void {
    this.#area.value = text;
    this.#area.focus();
  }

  mark(position: number | null, statement = ""): void {
    if (position === null) return;
    const place = placeOf(position, statement, this.#offset);
    this.#area.setSelectionRange(place, place);
    this.#area.focus();
  }

  /** What the next editor continues with. */
  state(): EditorState {
    const { value, selectionStart, selectionEnd, selectionDirection } = this.#area;
    const [anchor, head] =
      selectionDirection === "backward" ? [selectionEnd, selectionStart] : [selectionStart, selectionEnd];
    return { text: value, anchor, head, offset: this.#offset };
  }

  get hasFocus(): boolean {
    return document.activeElement === this.#area;
  }

  /** Waits until no word is being composed, since the input method would lose it with the text area. */
  async untilComposed(): Promise<void> {
    if (!this.#isComposing) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#area.addEventListener("compositionend", () => resolve(), { once: true });
    await promise;
  }
}
