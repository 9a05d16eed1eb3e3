// Finds many words in a text in one pass, in a time that does not depend on the words (Aho and Corasick, 1975).

/** A part of a text, which covers one word or several that overlap. */
export interface Span {
  start: number;
  end: number;
}

/** More than any code unit of a text. */
const UNITS = 65_536;

const ROOT = 0;

export class WordFinder {
  /** The node that a code unit leads to, by `node * UNITS + unit`. Each node stands for a beginning of words. */
  readonly #next = new Map<number, number>();
  /** The node of the longest proper ending that is a beginning as well. */
  readonly #fallback: number[] = [ROOT];
  /** The length of the longest word that ends at a node; 0 for none. */
  readonly #longest: number[] = [0];

  #longestWord = 0;
  /** The keys of `#next` by the depth of their nodes. */
  #keys: number[][] = [];

  constructor(words: readonly string[]) {
    for (const word of words) this.#add(word);
    this.#linkEndings();
    this.#keys = [];
  }

  /** The length of the longest word; 0 without words. */
  get longestWord(): number {
    return this.#longestWord;
  }

  /** The parts of a text that words cover, the first one first. Words that overlap have one part together. */
  spansIn(text: string): Span[] {
    const spans: Span[] = [];
    if (this.#next.size === 0) return spans;
    let node = ROOT;
    for (let at = 0; at < text.length; at += 1) {
      node = this.#step(node, text.charCodeAt(at));
      const length = this.#longest[node] ?? 0;
      if (length > 0) cover(spans, at + 1 - length, at + 1);
    }
    return spans;
  }

  #add(word: string): void {
    let node = ROOT;
    for (let at = 0; at < word.length; at += 1) {
      const key = node * UNITS + word.charCodeAt(at);
      const known = this.#next.get(key);
      node = known ?? this.#longest.length;
      if (known !== undefined) continue;
      this.#next.set(key, node);
      this.#longest.push(0);
      this.#fallback.push(ROOT);
      (this.#keys[at] ??= []).push(key);
    }
    this.#longest[node] = word.length;
    this.#longestWord = Math.max(this.#longestWord, word.length);
  }

  /** Goes through the nodes by their depth, since the fallback of a node is less deep. */
  #linkEndings(): void {
    for (const key of this.#keys.flat()) {
      const node = this.#next.get(key) ?? ROOT;
      const parent = Math.floor(key / UNITS);
      const fallback = parent === ROOT ? ROOT : this.#step(this.#fallback[parent] ?? ROOT, key % UNITS);
      this.#fallback[node] = fallback;
      this.#longest[node] ||= this.#longest[fallback] ?? 0;
    }
  }

  #step(from: number, unit: number): number {
    for (let node = from; ; node = this.#fallback[node] ?? ROOT) {
      const next = this.#next.get(node * UNITS + unit);
      if (next !== undefined) return next;
      if (node === ROOT) return ROOT;
    }
  }
}

/** Adds a part that ends after all other parts, and joins it with the parts that it overlaps. */
function cover(spans: Span[], from: number, end: number): void {
  let start = from;
  for (let last = spans.at(-1); last !== undefined && last.end > start; last = spans.at(-1)) {
    start = Math.min(start, last.start);
    spans.pop();
  }
  spans.push({ start, end });
}
