// The engine and the context of an instance, which are kept until something else is to be started.
import { engineFor } from "../../engines/index.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { contextOf, isOfNow } from "./context.ts";
import type { Runnable, RunnerParts } from "./runner-parts.ts";

export class Choice {
  readonly #parts: Pick<RunnerParts, "settings" | "folder">;
  #runnable: Runnable | null = null;
  /** The part of the manifest that the runnable was chosen for. */
  #chosenFor: Pick<Manifest, "spec" | "servedThrough"> | null = null;

  constructor(parts: Pick<RunnerParts, "settings" | "folder">) {
    this.#parts = parts;
  }

  /** The engine with its context, once it was chosen. */
  get runnable(): Runnable | null {
    return this.#runnable;
  }

  /**
   * Chooses for a manifest.
   * @param isRunning whether the engine runs, which then goes on as it was started.
   * @throws PublicError when this host does not have the engine.
   */
  async of(manifest: Manifest, isRunning: boolean): Promise<Runnable> {
    const { settings, folder } = this.#parts;
    const { spec, servedThrough } = manifest;
    const isChosen = this.#chosenFor?.spec === spec && this.#chosenFor.servedThrough === servedThrough;
    const known = isChosen ? this.#runnable : null;
    if (known !== null && (isRunning || isOfNow(settings, known.context))) return known;
    const engine = engineFor(manifest.engine.name, spec.kind);
    if (engine === undefined) throw new PublicError(`This host cannot run ${manifest.engine.name}.`);
    const context = await contextOf(settings, manifest, engine, folder);
    this.#chosenFor = { spec, servedThrough };
    return (this.#runnable = { engine, context });
  }

  forget(): void {
    this.#runnable = null;
    this.#chosenFor = null;
  }
}
