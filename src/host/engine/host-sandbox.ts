// The sandbox of this host: tried at the start, and again after an attempt to install what it needs.
import { ensureEtcFolder } from "../../engines/sandbox/etc-folder.ts";
import { ensureSandbox, findSandbox } from "../../engines/sandbox/probe.ts";
import type { Sandbox } from "../../engines/sandbox/sandbox.ts";
import { BUILD_ACCOUNT, canSwitchUsers } from "../os/accounts.ts";

export class HostSandbox {
  readonly #enginesDir: string;
  readonly #etc: string | null;
  #now: Sandbox;
  #ensured: Promise<void> | undefined;

  /** @param etc the folder for what sandboxes show as `/etc`; null where only the level is of interest. */
  constructor(enginesDir: string, etc: string | null) {
    this.#enginesDir = enginesDir;
    this.#etc = etc;
    this.#now = this.#complete(findSandbox(enginesDir, trial()));
  }

  /** What works with the programs that are there. */
  get now(): Sandbox {
    return this.#now;
  }

  /** What works after one attempt to install what is missing, ready for a start. */
  async ensured(): Promise<Sandbox> {
    if (this.#now.level !== "bubblewrap") await (this.#ensured ??= this.#ensure());
    if (this.#now.level === "bubblewrap" && this.#etc !== null) ensureEtcFolder(this.#etc);
    return this.#now;
  }

  async #ensure(): Promise<void> {
    this.#now = this.#complete(await ensureSandbox(this.#enginesDir, trial()));
  }

  #complete(found: Sandbox): Sandbox {
    return found.level === "bubblewrap" ? { ...found, etc: this.#etc } : found;
  }
}

/** The user that builds first data has no processes that a trial could disturb. */
function trial() {
  return { account: canSwitchUsers() ? BUILD_ACCOUNT : null };
}
