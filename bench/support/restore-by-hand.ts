// A restore as an operator would make it by hand: plain files of a backup and its log are copied, and Postgres replays.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import type { RestorePlan } from "../../src/contracts/keeper.ts";
import { commandOf, type InstalledEngine } from "../../src/engines/installed-engine.ts";
import { findEngines } from "../../src/engines/installed.ts";
import { KeeperClient } from "../../src/host/backups/keeper-client.ts";
import { instancesDir, keeperSocket } from "../../src/host/os/layout.ts";
import { chownTree } from "../../src/lib/files.ts";
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";

const READY = "database system is ready to accept connections";

/** The files of a restore, as an operator has them: unpacked, and without encryption. */
export class RestoreByHand {
  readonly plan: RestorePlan;
  readonly #model: string;
  readonly #folder: string;
  readonly #owner: { uid: number; gid: number };
  readonly #installed: InstalledEngine;
  #process: Bun.Subprocess | null = null;

  private constructor(
    plan: RestorePlan,
    folder: string,
    owner: { uid: number; gid: number },
    installed: InstalledEngine,
  ) {
    this.plan = plan;
    this.#model = join(folder, "model");
    this.#folder = join(folder, "restored");
    this.#owner = owner;
    this.#installed = installed;
  }

  /** Takes the files for an instant of a cluster out of its archive. @param at ISO 8601. */
  static async take(pilvi: TestPilvi, id: string, at: string): Promise<RestoreByHand> {
    const keeper = new KeeperClient(keeperSocket(pilvi.dataDir));
    const { signal } = new AbortController();
    const plan = await keeper.plan(id, { at }, signal);
    const source = join(instancesDir(pilvi.dataDir), id);
    const { uid, gid } = statSync(join(source, "data"));
    const folder = join(pilvi.dataDir, "by-hand");
    mkdirSync(folder, { mode: 0o755 });
    const engines = await findEngines(loadConfig(pilvi.env).enginesDir);
    const { name, version } = plan.backup.engine;
    const installed = engines.find((engine) => engine.name === name && engine.version === version);
    if (installed === undefined) throw new Error(`${name} ${version} is not installed`);
    const hand = new RestoreByHand(plan, folder, { uid, gid }, installed);
    const data = hand.#makeFolders(source);
    const tar = Bun.spawn(["tar", "--extract", "--ignore-zeros", `--directory=${data}`], {
      stdio: [new Response(streamOf(await keeper.read(id, plan.backup.id, signal))), "ignore", "inherit"],
    });
    if ((await tar.exited) !== 0) throw new Error("the backup could not be unpacked");
    for (const segment of plan.segments) {
      const content = await Array.fromAsync(await keeper.readLog(id, segment.name, signal));
      writeFileSync(join(hand.#model, "log", segment.name), Buffer.concat(content));
    }
    hand.#steer(at);
    chownTree(hand.#model, hand.#owner);
    return hand;
  }

  /** Copies the files and replays the log. @returns milliseconds until the server takes connections. */
  async restore(): Promise<number> {
    const startedAt = performance.now();
    run(["cp", "-a", this.#model, this.#folder]);
    run(["cp", "-a", `${join(this.#folder, "log")}/.`, join(this.#folder, "data", "pg_wal")]);
    const conf = join(this.#folder, "conf", "postgresql.conf");
    const argv = [
      ...commandOf(this.#installed),
      "-D",
      join(this.#folder, "data"),
      "-c",
      `config_file=${conf}`,
    ];
    const child = Bun.spawn(argv, {
      cwd: this.#folder,
      env: { ...this.#installed.env, TZ: "UTC" },
      stdio: ["ignore", "ignore", "pipe"],
      ...this.#owner,
    });
    this.#process = child;
    await untilSaid(child.stderr, READY);
    const ms = performance.now() - startedAt;
    await this.end();
    return ms;
  }

  /** Ends the server, and deletes what was restored. */
  async end(): Promise<void> {
    this.#process?.kill("SIGQUIT");
    await this.#process?.exited;
    this.#process = null;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** @param source the folder of the cluster, whose configuration the restored server has. */
  #makeFolders(source: string): string {
    const data = join(this.#model, "data");
    mkdirSync(data, { recursive: true, mode: 0o700 });
    for (const name of ["log", "run", "tmp"]) mkdirSync(join(this.#model, name));
    run(["cp", "-a", join(source, "conf"), this.#model]);
    for (const name of ["postgresql.conf", "pg_hba.conf", "pg_ident.conf"]) {
      const path = join(this.#model, "conf", name);
      writeFileSync(path, readFileSync(path, "utf8").replaceAll(source, this.#folder));
    }
    return data;
  }

  #steer(at: string): void {
    const data = join(this.#model, "data");
    const { postgres, isHot } = this.plan.backup;
    if (isHot) writeFileSync(join(data, "backup_label"), postgres?.label ?? "");
    writeFileSync(join(data, "recovery.signal"), "");
    const settings = [
      "restore_command = '/bin/false'",
      "recovery_target_timeline = 'current'",
      "recovery_target_action = 'promote'",
      `recovery_target_time = '${at.replace("T", " ").replace("Z", "+00")}'`,
    ];
    appendFileSync(join(this.#model, "conf", "postgresql.conf"), `${settings.join("\n")}\n`);
  }
}

function streamOf(parts: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

function run([program = "", ...args]: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} has failed: ${stderr}`);
}

/** @throws when the server ends before. */
async function untilSaid(stream: ReadableStream<Uint8Array>, words: string): Promise<void> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of stream) {
    said += decoder.decode(chunk, { stream: true });
    if (said.includes(words)) return;
  }
  throw new Error(`the server ended by itself: ${said.slice(-2_000)}`);
}
