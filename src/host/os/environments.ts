// The environments of applications on this machine: the user that all instances and builds of one share, and the cache
// of its builds.
import { chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { readJsonAs } from "../../contracts/read.ts";
import type { Account } from "../../engines/engine.ts";
import { PublicError } from "../../lib/errors.ts";
import { readIfPresent, replaceFile } from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { allotEnvironmentUid, allotUid, canSwitchUsers } from "./accounts.ts";
import { environmentsDir } from "./layout.ts";
import { NetworkRules, type NetworkRulesParts } from "./network-rules.ts";
import { killProcessesOf, usersWithProcesses } from "./user-processes.ts";
import { removeTrees } from "../../lib/tree-removal.ts";

const FILE = "environment.json";

const fileSchema = z.strictObject({
  version: z.literal(1),
  /** Null where processes cannot have users of their own. */
  uid: z.nullable(z.int()),
});

const ID = /^[a-z0-9][a-z0-9-]{0,63}$/;

export class Environments {
  readonly #folder: string;
  readonly #isUidOfInstance: (uid: number) => boolean;
  readonly #place: number;
  /** What the processes of environments reach on this machine. */
  readonly network: NetworkRules;
  readonly #uids = new Map<string, number | null>();

  /** @param isUidOfInstance whether an instance of this host has the uid. */
  constructor(
    settings: Omit<NetworkRulesParts, "uids" | "log">,
    log: Log,
    isUidOfInstance: (uid: number) => boolean,
  ) {
    this.#folder = environmentsDir(settings.dataDir);
    this.#isUidOfInstance = isUidOfInstance;
    this.#place = Number.parseInt(sha256Hex(settings.dataDir).slice(0, 8), 16);
    const uids = () => this.#uids.values().flatMap((uid) => (uid === null ? [] : [uid]));
    this.network = new NetworkRules({ ...settings, uids: () => [...uids()], log });
    if (!existsSync(this.#folder)) return;
    for (const id of readdirSync(this.#folder).filter((name) => ID.test(name))) {
      const text = readIfPresent(join(this.#folder, id, FILE));
      if (text !== null && text !== "")
        this.#uids.set(id, readJsonAs(fileSchema, text, `The file of ${id}`).uid);
    }
  }

  /** Whether an environment has this uid. */
  hasUid(uid: number): boolean {
    return this.#uids.values().some((each) => each === uid);
  }

  /** The user of an environment, chosen when it is first asked for; null where all processes share the host's. */
  accountOf(id: string): Account | null {
    const uid = this.#uids.get(id) ?? this.#allot(id);
    return uid === null ? null : { uid, gid: uid };
  }

  /** Chooses the uid of a new instance: an application's is that of its environment, any other has its own. */
  allotUidFor(spec: InstanceSpec): number | null {
    if (spec.kind === "application") return this.accountOf(spec.environment)?.uid ?? null;
    const isTaken = (uid: number) => this.hasUid(uid) || this.#isUidOfInstance(uid);
    return canSwitchUsers() ? allotUid(spec, { has: isTaken }) : null;
  }

  /** The folder for the cache of an environment's builds, which belongs to its user. */
  cacheOf(id: string): string {
    const account = this.accountOf(id);
    const cache = join(this.#folder, id, "cache");
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    if (account !== null) chownSync(cache, account.uid, account.gid);
    return cache;
  }

  /** Deletes what builds have kept. */
  async clearCache(id: string): Promise<void> {
    if (ID.test(id)) await removeTrees([join(this.#folder, id, "cache")]);
  }

  /**
   * Forgets an environment, whose instances and builds are gone, and ends what is left of their processes.
   * @throws PublicError when some of them do not end; the environment keeps its user then, and can be removed later.
   */
  async remove(id: string): Promise<void> {
    if (!ID.test(id)) throw new PublicError("The id of the environment is malformed.");
    await this.#endProcesses(id);
    // The user is given up last, so that no other environment gets files of this one.
    await this.clearCache(id);
    await removeTrees([join(this.#folder, id)]);
    this.#uids.delete(id);
  }

  /** A process that has left its group and its lock would go on with the user of the next environment. */
  async #endProcesses(id: string): Promise<void> {
    const uid = this.#uids.get(id) ?? null;
    // A user that is shared has processes of others, first of all Pilvi's.
    if (uid === null || !canSwitchUsers() || (await killProcessesOf(uid))) return;
    throw new PublicError(`Processes of the environment ${id} do not end.`);
  }

  #allot(id: string): number | null {
    if (!ID.test(id)) throw new PublicError("The id of the environment is malformed.");
    // Earlier releases, and other Pilvis of this machine, have processes of users that no environment of this one has.
    const busy = usersWithProcesses();
    const taken = {
      has: (uid: number) => this.hasUid(uid) || this.#isUidOfInstance(uid) || busy.has(uid),
    };
    const uid = canSwitchUsers() ? allotEnvironmentUid(taken, this.#place) : null;
    const folder = join(this.#folder, id);
    mkdirSync(this.#folder, { recursive: true, mode: 0o711 });
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    replaceFile(join(folder, FILE), JSON.stringify({ version: 1, uid }), 0o600);
    this.#uids.set(id, uid);
    return uid;
  }
}
