// The address of one instance. The host holds it for the instance's life, for direct and for proxied exposure.
import type { Account } from "../../engines/engine.ts";
import type { InstanceAddresses, Side } from "../os/addresses.ts";
import { addressOf, type HostSettings } from "./context.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { EngineRunner } from "./runner.ts";

/** The parts that an instance's address works with. */
interface InstanceAddressParts {
  id: string;
  settings: HostSettings;
  addresses: InstanceAddresses;
  file: ManifestFile;
  runner: EngineRunner;
}

function ownAccount(): Account {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

export class InstanceAddress {
  readonly #parts: InstanceAddressParts;
  #isMissing = false;

  constructor(parts: InstanceAddressParts) {
    this.#parts = parts;
  }

  /** Whether another program had the address at the last attempt to hold it. */
  get isMissing(): boolean {
    return this.#isMissing;
  }

  /** Holds the address for the side that the manifest names. @throws PublicError when another program has it. */
  async hold(): Promise<void> {
    const { file, runner } = this.#parts;
    const side = file.manifest?.servedThrough ?? "engine";
    try {
      await this.#holdFor(side);
      this.#isMissing = false;
    } catch (error) {
      // An engine that an earlier host started holds the address itself, and ends before it gets another.
      if (side === "engine" && runner.process !== null) return;
      this.#isMissing = true;
      throw error;
    }
  }

  /**
   * Lets the engine that is about to start listen there, until `settle`.
   * @throws PublicError when another program has the address.
   */
  async admitEngine(): Promise<void> {
    await this.hold();
    this.admit();
  }

  /**
   * Lets a running engine listen there, until `settle`. A WebSocket server listens only once it has received its
   * applications.
   */
  admit(): void {
    const { id, addresses, runner } = this.#parts;
    const { engine, context } = runner.runnable ?? {};
    addresses.admit(id, context?.account ?? ownAccount(), engine?.sharesPort === true);
  }

  /** Refuses new listeners at the address from now on. */
  settle(): void {
    this.#parts.addresses.settle(this.#parts.id);
  }

  /** Releases the address of a removed instance. */
  drop(): void {
    this.#parts.addresses.drop(this.#parts.id);
  }

  async #holdFor(side: Side): Promise<void> {
    const { id, settings, addresses, file, runner } = this.#parts;
    const spec = file.manifest?.spec;
    if (spec === undefined || spec.exposure.port === null) return;
    const place = { address: addressOf(settings, spec), port: spec.exposure.port };
    await addresses.hold(id, place, side, runner.process !== null);
  }
}
