// Which ports of this machine the users of environments reach: only those of what an instance or a build of theirs names.
// The rules are the kernel's, so they hold while no host runs, and the next host makes them anew in one step.
import { networkInterfaces } from "node:os";
import { isDeepStrictEqual } from "node:util";
import type { Reach } from "../../contracts/application.ts";
import {
  findPacketFilter,
  ensurePacketFilter,
  type PacketFilter,
} from "../../engines/packet-filter/packet-filter.ts";
import {
  changeScript,
  elementsScript,
  removalScript,
  wholeScript,
  type PortRange,
  type Rules,
} from "../../engines/packet-filter/ruleset.ts";
import { machineNetwork } from "../../engines/runtimes/machine-network.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import { sha256Hex } from "../../lib/secrets.ts";

/** What an instance or a build may reach. */
export interface Grant {
  uid: number;
  /** The instances whose ports it may reach. */
  reaches: readonly Reach[];
  /** The port at which it answers; null without any. */
  port: number | null;
}

/** What the rules follow from. */
export interface NetworkRulesParts {
  dataDir: string;
  enginesDir: string;
  /** The ports of instances. */
  portRange?: PortRange;
  /** The uids of all environments. */
  uids(): number[];
  /** The port of an instance; null for an instance that is not there, or has none. */
  portOf(id: string): number | null;
  log: Log;
}

/** How long after a start the rules are looked at, so that no start waits for that. */
const CHECK_DELAY_MS = 1_000;

/** The ports of instances where no setting names others. */
export const DEFAULT_PORT_RANGE: PortRange = { first: 20_000, last: 29_999 };

export class NetworkRules {
  readonly #parts: NetworkRulesParts;
  readonly #table: string;
  readonly #grants = new Map<string, Grant>();
  /** The ports of an instance that every environment may reach. */
  readonly #open = new Map<string, readonly number[]>();
  #filter: Promise<PacketFilter | null> | undefined;
  #isMade = false;
  #isStopped = false;
  /** The rules that the kernel has as far as is known; null when that is to be looked at. */
  #known: Rules | null = null;
  /**
   * `wanted` counts the changes of grants, open ports and ports of instances; `made` is the count whose rules the kernel
   * has.
   */
  #changes = { wanted: 0, made: 0 };
  /** The ports of the instances that grants name, as the latest rules have them. */
  #ports = new Map<Reach, number | null>();
  #check: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(parts: NetworkRulesParts) {
    this.#parts = parts;
    this.#table = tableOf(parts.dataDir);
  }

  /** Has the rules follow the instances that an earlier host has left, in one step. */
  async restore(
    grants: ReadonlyMap<string, Grant>,
    open: ReadonlyMap<string, readonly number[]>,
  ): Promise<void> {
    for (const [owner, grant] of grants) this.#grants.set(owner, grant);
    for (const [owner, ports] of open) this.#open.set(owner, ports);
    this.#changes.wanted += 1;
    if (this.#parts.uids().length === 0) return;
    // Databases do not wait for an installation: the next start of an application tries that.
    const filter = await findPacketFilter(this.#parts.enginesDir);
    if (filter === null) return;
    this.#filter = Promise.resolve(filter);
    await this.#written();
  }

  /**
   * Lets the processes of an owner reach what they may; resolves when the rules are in force. The rules outlive a sleep,
   * so that a wake does not wait for them.
   */
  async grant(owner: string, grant: Grant): Promise<void> {
    const isSame = isDeepStrictEqual(this.#grants.get(owner), grant) && !grant.reaches.some(this.#hasMoved);
    if (isSame && this.#isInForce) return this.#checkSoon();
    this.#grants.set(owner, grant);
    this.#changes.wanted += 1;
    await this.#written();
  }

  /** Lets every environment reach the ports of an instance. */
  async open(owner: string, ports: readonly number[]): Promise<void> {
    this.#open.set(owner, ports);
    this.#changes.wanted += 1;
    await this.#follow();
  }

  /** Takes back what an owner was granted, and its port from all others, after its processes have ended. */
  async revoke(owner: string): Promise<void> {
    const hadAny = [this.#grants.delete(owner), this.#open.delete(owner), this.#isReached(owner)].includes(
      true,
    );
    if (hadAny) this.#changes.wanted += 1;
    await this.#follow();
  }

  /** Has those who may reach an instance reach its port of now, whatever comes of that: the instance does not wait for it. */
  starts(id: string): void {
    if (!this.#ports.has(id) || !this.#hasMoved(id)) return;
    this.#changes.wanted += 1;
    // The log says why it failed, and the next start of an application tries again.
    void this.#follow().catch(() => undefined);
  }

  /** Changes nothing from now on: the rules are those of the next host, or are removed as a whole. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#check);
  }

  /** Removes the rules, when no process of an environment runs any more. */
  async close(): Promise<void> {
    this.stop();
    await this.#next?.catch(() => undefined);
    await this.#last;
    const filter = await this.#filter;
    if (!this.#isMade || filter === null || filter === undefined) return;
    this.#isMade = false;
    await filter.run(removalScript(this.#table)).catch((error: unknown) => {
      this.#parts.log.warn({ error }, "the network rules could not be removed");
    });
  }

  get #isInForce(): boolean {
    return this.#changes.made === this.#changes.wanted;
  }

  /** Whether the rules let anybody reach the port of an instance. */
  #isReached(id: string): boolean {
    return typeof this.#ports.get(id) === "number";
  }

  /** Whether the rules have another port of an instance than its port of now. */
  readonly #hasMoved = (reach: Reach): boolean => this.#ports.get(reach) !== this.#portOf(reach);

  #portOf(reach: Reach): number | null {
    return typeof reach === "number" ? reach : this.#parts.portOf(reach);
  }

  /** Brings a table that is there to the present grants. */
  async #follow(): Promise<void> {
    if (this.#filter !== undefined && !this.#isInForce) await this.#written();
  }

  /** Makes a table anew that another program may have removed. */
  #checkSoon(): void {
    this.#check ??= setTimeout(() => {
      this.#check = undefined;
      this.#known = null;
      // The log says why it failed, and the next start tries again.
      void this.#written().catch(() => undefined);
    }, CHECK_DELAY_MS);
    this.#check.unref();
  }

  /** Resolves when the kernel has what is wanted now; requests that come meanwhile share the next transaction. */
  #written(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      const written = this.#write();
      this.#last = written.catch(() => undefined);
      return written;
    });
    return this.#next;
  }

  async #write(): Promise<void> {
    const { enginesDir, log } = this.#parts;
    const filter = await (this.#filter ??= ensurePacketFilter(enginesDir));
    if (filter === null || this.#isStopped) return;
    const rules = this.#rules();
    const { wanted } = this.#changes;
    const script = this.#known === null ? elementsScript(rules) : changeScript(this.#known, rules);
    // A build mostly reaches what its application reaches.
    if (script === "") {
      this.#changes.made = wanted;
      return this.#checkSoon();
    }
    try {
      // A table that somebody else has removed or changed is made anew.
      if (this.#isMade) await filter.run(script).catch(() => filter.run(wholeScript(rules)));
      else await filter.run(wholeScript(rules));
      this.#isMade = true;
      this.#known = rules;
      this.#changes.made = wanted;
    } catch (error) {
      this.#known = null;
      log.error({ error }, "the network rules could not be set");
      throw new PublicError("The host could not set its network rules; its log says why.");
    }
  }

  #rules(): Rules {
    const grants = [...this.#grants.values()];
    this.#ports = new Map(
      grants.flatMap(({ reaches }) => reaches.map((reach) => [reach, this.#portOf(reach)])),
    );
    const portsOf = ({ reaches, port }: Grant) =>
      [...reaches.map((reach) => this.#ports.get(reach) ?? null), port].filter((each) => each !== null);
    return {
      table: this.#table,
      reserved: [this.#parts.portRange ?? DEFAULT_PORT_RANGE],
      uids: [...this.#parts.uids(), ...grants.map(({ uid }) => uid)],
      reached: grants.flatMap((grant) => portsOf(grant).map((port): [number, number] => [grant.uid, port])),
      owned: grants.flatMap(({ uid, port }) => (port === null ? [] : [[uid, port] as [number, number]])),
      open: [...this.#open.values()].flat().concat(proxyPorts()),
    };
  }
}

/** Two Pilvis of a machine have tables of their own. */
export function tableOf(dataDir: string): string {
  return `pilvi_${sha256Hex(dataDir).slice(0, 16)}`;
}

/** The ports of the proxies on this machine that programs reach other machines through. */
function proxyPorts(): number[] {
  const addresses = Object.values(networkInterfaces()).flatMap(
    (each) => each?.map(({ address }) => address) ?? [],
  );
  const local = new Set(["localhost", ...addresses]);
  return Object.entries(machineNetwork()).flatMap(([name, value]) => {
    if (!/^https?_proxy$|^all_proxy$/i.test(name) || !URL.canParse(value)) return [];
    const { hostname, port, protocol } = new URL(value);
    const isLocal = local.has(hostname.replace(/^\[|\]$/g, "")) || hostname.startsWith("127.");
    return isLocal ? [Number(port === "" ? (protocol === "https:" ? 443 : 80) : port)] : [];
  });
}
