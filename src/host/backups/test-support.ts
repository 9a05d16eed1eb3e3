// What tests of backups share: hosts with real engines and a real keeper, driven through the local driver.
import { join, resolve } from "node:path";
import { pilviEnv, until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Route } from "../../contracts/gateway-link.ts";
import type { BackupInfo } from "../../contracts/keeper.ts";
import type { Driver } from "../../drivers/driver.ts";
import { localDriver } from "../../drivers/local/index.ts";
import { newId } from "../../lib/ids.ts";
import { createLog } from "../../lib/log.ts";
import type { Host } from "../host.ts";
import { hostSocket, instancesDir, keeperSocket } from "../os/layout.ts";
import { serveHost } from "../server.ts";
import { customerDatabase, TestHosts, type TestGateway } from "../test-support.ts";
import { KeeperClient } from "./keeper-client.ts";

const KEEPER = resolve(import.meta.dir, "../../processes/commands/keeper-main.ts");

/** A data directory with a keeper, and with consecutive hosts and a gateway. */
export class BackupStage {
  readonly hosts = new TestHosts();
  readonly driver: Driver = localDriver(hostSocket(this.hosts.dataDir));
  readonly keeper = new KeeperClient(keeperSocket(this.hosts.dataDir));
  readonly signal = new AbortController().signal;
  #keeper: Bun.Subprocess<"ignore", "ignore", "inherit"> | undefined;
  #stopServing: (() => Promise<void>) | undefined;
  gateway!: TestGateway;
  host!: Host;

  async start(): Promise<void> {
    await this.startKeeper();
    await this.startHost();
    this.gateway = await this.hosts.gateway();
  }

  /** Starts a host in place of the former, which leaves its engines running. */
  async startHost(): Promise<void> {
    await this.#stopServing?.();
    this.host = await this.hosts.start();
    this.#stopServing = serveHost(this.host, hostSocket(this.hosts.dataDir), createLog("host", "silent"));
  }

  async startKeeper(): Promise<void> {
    const env = { ...pilviEnv(this.hosts.dataDir, 1), PILVI_LOG_LEVEL: "error" };
    this.#keeper = Bun.spawn([process.execPath, KEEPER], { env, stdio: ["ignore", "ignore", "inherit"] });
    await until("the keeper answers", () =>
      this.keeper.archives().then(
        () => true,
        () => false,
      ),
    );
  }

  async killKeeper(): Promise<void> {
    this.#keeper?.kill("SIGKILL");
    await this.#keeper?.exited;
  }

  /** Stops the keeper, which keeps its connections, or lets it go on. */
  signalKeeper(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#keeper?.kill(signal);
  }

  async backUp(id: string): Promise<BackupInfo> {
    return await this.driver.backUp(id, newId("snapshot"), this.signal);
  }

  /** Connects to a database as its customer, which wakes it, and uses the connection. */
  async inDatabase<T>(kind: "postgres" | "mysql", id: string, use: (db: Bun.SQL) => Promise<T>): Promise<T> {
    const db = customerDatabase(kind, await this.awake(id));
    try {
      return await use(db);
    } finally {
      await db.close();
    }
  }

  /** The route to an instance that is awake, or woken by this. */
  async awake(id: string): Promise<Route> {
    const isAsleep = (await this.driver.observe(id)).state === "asleep";
    return await (isAsleep ? this.gateway.wake(id) : this.gateway.until(id, "running"));
  }

  /** The programs that work on the data of an instance, beside its engine. */
  programsAt(id: string): number[] {
    return this.hosts.pidsOf(id);
  }

  folderOf(id: string): string {
    return join(instancesDir(this.hosts.dataDir), id);
  }

  async close(): Promise<void> {
    await this.#stopServing?.();
    this.signalKeeper("SIGCONT");
    this.#keeper?.kill("SIGTERM");
    await this.#keeper?.exited;
    await this.hosts.close();
  }
}
