// The copies of instances' data that are under way: a copy of a running engine keeps it awake, and a copy of a sleeping
// instance ends at once for a start.

/** The copy of one instance. */
interface Copy {
  isHot: boolean;
  /** Resolves when its program has ended. */
  end(): Promise<void>;
}

export class Copies {
  readonly #copies = new Map<string, Copy>();

  /** Notes the only copy of an instance; the returned function ends that. */
  begin(id: string, copy: Copy): () => void {
    this.#copies.set(id, copy);
    return () => void this.#copies.delete(id);
  }

  /** Why the engine must go on running, as a sentence that may be shown to anyone; null when it need not. */
  reasonToStayAwake(id: string): string | null {
    return this.#copies.get(id)?.isHot === true ? "A backup of it is being made." : null;
  }

  /** Ends the copy of stopped data, which an engine is about to change. */
  async makeWay(id: string): Promise<void> {
    const copy = this.#copies.get(id);
    if (copy?.isHot === false) await copy.end();
  }

  /** Ends the copy of an instance that is about to be removed. */
  async giveUp(id: string): Promise<void> {
    await this.#copies.get(id)?.end();
  }
}
