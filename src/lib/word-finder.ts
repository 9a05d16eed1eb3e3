// Finds many words in a text in one pass, in a time that does not depend on the words (Aho and Corasick, 1975). The
// nodes stand in typed arrays, since customers choose so many words that a map of them would keep the process busy.

/** A part of a text, which covers one word or several that overlap. */
export interface Span {
  start: number;
  end: number;
}

/** A part of a word, and the node of what comes before it. */
interface Part {
  node: number;
  at: number;
  end: number;
}

/** So many code units or nodes are looked at before the event loop gets a turn: some milliseconds. */
const UNITS_IN_TURN = 4_096;

/** The node of the empty beginning. No node leads to it, so it also says that there is no node. */
const ROOT = 0;

export class WordFinder {
  // Each node stands for a beginning of words; its properties stand at its number.
  /** The node of the beginning that is one code unit shorter. */
  readonly #parent: Int32Array;
  /** The last code unit of the beginning. */
  readonly #unit: Uint16Array;
  /** The node of the longest proper ending that is a beginning as well. */
  readonly #fallback: Int32Array;
  /** The length of the longest word that ends at a node; 0 for none. */
  readonly #longest: Int32Array;
  /** The nodes by a hash of their parent and unit; a node whose slot is taken stands in the next free one. */
  readonly #slots: Int32Array;
  /** Nobody outside can choose words whose nodes all have the same slot. */
  readonly #nodeSeed = oddSeed();
  readonly #unitSeed = oddSeed();

  #nodes = 1;
  #longestWord = 0;

  private constructor(most: number) {
    this.#parent = new Int32Array(most);
    this.#unit = new Uint16Array(most);
    this.#fallback = new Int32Array(most);
    this.#longest = new Int32Array(most);
    // At most half of the slots are taken.
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * most)));
  }

  /** A finder of these words. Many words take long, so the event loop has turns meanwhile. */
  static async of(words: readonly string[]): Promise<WordFinder> {
    const distinct = [...new Set(words)];
    const finder = new WordFinder(1 + distinct.reduce((sum, { length }) => sum + length, 0));
    let done = 0;
    for (const units of finder.#build(distinct)) {
      done += units;
      if (done < UNITS_IN_TURN) continue;
      done = 0;
      await new Promise(setImmediate);
    }
    return finder;
  }

  /** The length of the longest word; 0 without words. */
  get longestWord(): number {
    return this.#longestWord;
  }

  /** The parts of a text that words cover, the first one first. Words that overlap have one part together. */
  spansIn(text: string): Span[] {
    const spans: Span[] = [];
    if (this.#nodes === 1) return spans;
    let node = ROOT;
    for (let at = 0; at < text.length; at += 1) {
      node = this.#step(node, text.charCodeAt(at));
      const length = this.#longest[node] ?? 0;
      if (length > 0) cover(spans, at + 1 - length, at + 1);
    }
    return spans;
  }

  /** Yields how many code units or nodes it has looked at since it yielded before. */
  *#build(words: readonly string[]): Generator<number, void> {
    const depths = new Int32Array(this.#parent.length);
    for (const word of words) {
      let node = ROOT;
      for (let at = 0; at < word.length; at += UNITS_IN_TURN) {
        const end = Math.min(word.length, at + UNITS_IN_TURN);
        node = this.#add(word, { node, at, end }, depths);
        yield end - at;
      }
      this.#longest[node] = word.length;
      this.#longestWord = Math.max(this.#longestWord, word.length);
    }
    // The fallback of a node is less deep, so it is linked before.
    const nodes = inOrderOf(depths.subarray(0, this.#nodes), this.#longestWord);
    for (let at = 0; at < nodes.length; at += UNITS_IN_TURN) {
      const part = nodes.subarray(at, at + UNITS_IN_TURN);
      this.#linkEndings(part);
      yield part.length;
    }
  }

  /** Adds the nodes of a part of a word behind the node of what comes before. @returns the last node. */
  #add(word: string, { node: first, at: start, end }: Part, depths: Int32Array): number {
    let node = first;
    for (let at = start; at < end; at += 1) {
      const unit = word.charCodeAt(at);
      const slot = this.#slotOf(node, unit);
      const known = this.#slots[slot] ?? ROOT;
      if (known !== ROOT) {
        node = known;
        continue;
      }
      const added = this.#nodes;
      this.#nodes += 1;
      this.#slots[slot] = added;
      this.#parent[added] = node;
      this.#unit[added] = unit;
      depths[added] = at + 1;
      node = added;
    }
    return node;
  }

  #linkEndings(nodes: Int32Array): void {
    for (let index = 0; index < nodes.length; index += 1) {
      const node = nodes[index] ?? ROOT;
      const parent = this.#parent[node] ?? ROOT;
      if (parent === ROOT) continue;
      const fallback = this.#step(this.#fallback[parent] ?? ROOT, this.#unit[node] ?? 0);
      this.#fallback[node] = fallback;
      this.#longest[node] ||= this.#longest[fallback] ?? 0;
    }
  }

  #step(from: number, unit: number): number {
    for (let node = from; ; node = this.#fallback[node] ?? ROOT) {
      const next = this.#slots[this.#slotOf(node, unit)] ?? ROOT;
      if (next !== ROOT || node === ROOT) return next;
    }
  }

  /** The slot of the node that a code unit leads to, or else the free slot where it would stand. */
  #slotOf(node: number, unit: number): number {
    const slots = this.#slots;
    const mixed = Math.imul(node, this.#nodeSeed) + Math.imul(unit, this.#unitSeed);
    for (let slot = Math.imul(mixed ^ (mixed >>> 15), 0x2c_1b_3c_6d) >>> 7; ; slot += 1) {
      const at = slot & (slots.length - 1);
      const found = slots[at] ?? ROOT;
      if (found === ROOT || (this.#parent[found] === node && this.#unit[found] === unit)) return at;
    }
  }
}

function oddSeed(): number {
  return (crypto.getRandomValues(new Int32Array(1))[0] ?? 1) | 1;
}

/** The indices of numbers from 0 to `most`, the least number first. */
function inOrderOf(numbers: Int32Array, most: number): Int32Array {
  const starts = new Int32Array(most + 2);
  for (const number of numbers) starts[number + 1] = (starts[number + 1] ?? 0) + 1;
  for (let number = 1; number < starts.length; number += 1)
    starts[number] = (starts[number] ?? 0) + (starts[number - 1] ?? 0);
  const ordered = new Int32Array(numbers.length);
  for (let index = 0; index < numbers.length; index += 1) {
    const number = numbers[index] ?? 0;
    const at = starts[number] ?? 0;
    ordered[at] = index;
    starts[number] = at + 1;
  }
  return ordered;
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
