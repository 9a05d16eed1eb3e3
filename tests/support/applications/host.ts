// A host that builds and runs applications for a test, with sources made of a few files.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../../../src/config.ts";
import type { Build, BuildLogLine, BuildSpec } from "../../../src/contracts/builds.ts";
import type { ApplicationSpec } from "../../../src/contracts/instance-spec.ts";
import { findTool } from "../../../src/engines/tools/tools.ts";
import { HostSandbox } from "../../../src/host/engine/host-sandbox.ts";
import type { HostSettings } from "../../../src/host/engine/context.ts";
import { Host } from "../../../src/host/host.ts";
import { hostSettings } from "../../../src/host/test-support.ts";
import { findCgroups } from "../../../src/host/os/cgroup-backends.ts";
import { etcDir, instanceFolder } from "../../../src/host/os/layout.ts";
import { holdersOf } from "../../../src/host/os/locks.ts";
import { createLog } from "../../../src/lib/log.ts";
import { removeNetworkRules } from "../pilvi/network-rules.ts";
import { freshDataDir, until } from "../pilvi/pilvi.ts";
import { freePort } from "../pilvi/ports.ts";

const MIB = 1024 ** 2;

/** A host in a data directory of its own, which later hosts can take up. */
export class ApplicationHost {
  readonly dataDir: string;
  readonly #settings: HostSettings;
  #host: Host | null = null;

  constructor(settings: Partial<HostSettings> = {}, dataDir = freshDataDir()) {
    this.dataDir = dataDir;
    const { enginesDir } = loadConfig(process.env);
    if (findTool("bubblewrap", enginesDir) === null || findTool("nginx", enginesDir) === null)
      throw new Error("these tests need bubblewrap and nginx; run: pilvi engines install");
    this.#settings = {
      ...hostSettings({ dataDir: this.dataDir, enginesDir }),
      ownEngines: [ownEngine()],
      cgroups: findCgroups(this.dataDir),
      sandbox: new HostSandbox(enginesDir, etcDir(this.dataDir)),
      ...settings,
    };
  }

  /** A host that has started, with a release of a server in one file. */
  static async withServer(server: string): Promise<{ host: ApplicationHost; release: string }> {
    const host = new ApplicationHost();
    await host.start();
    const { id: release } = await host.build({}, { "server.js": server });
    return { host, release };
  }

  /** @throws before the start. */
  get host(): Host {
    if (this.#host === null) throw new Error("the host was not started");
    return this.#host;
  }

  /** Starts a host that knows what others have left in the data directory until now. */
  async start(): Promise<void> {
    this.#host = new Host(this.#settings, createLog("host", "silent"));
    await this.#host.start();
  }

  /** Lets everything go as a host that is upgraded, and starts the next. */
  async restart(): Promise<void> {
    this.host.release();
    await this.start();
  }

  async close(): Promise<void> {
    for (const id of this.#host?.ids() ?? []) await this.host.remove(id);
    await this.#host?.close();
    await removeNetworkRules(this.dataDir);
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** The processes of an instance that hold its lock, in order. */
  pidsOf(id: string): number[] {
    return holdersOf(instanceFolder(this.dataDir, id).lock).toSorted();
  }

  /** Orders a build of these files. */
  async order(spec: Partial<BuildSpec>, files: Record<string, string>): Promise<Build> {
    return await this.orderTar(spec, tarOf(files));
  }

  /** Orders a build of a tar. */
  async orderTar(spec: Partial<BuildSpec>, tar: Uint8Array): Promise<Build> {
    const line = `${JSON.stringify(buildSpec(spec))}\n`;
    return await this.host.builds.order(new Blob([line, tar]).stream());
  }

  /** Runs commands in a release to their end. */
  async runIn(release: string, spec: Partial<BuildSpec>): Promise<Build> {
    const { id } = await this.orderTar({ release, ...spec }, new Uint8Array());
    return await this.ended(id);
  }

  /** Orders a build and waits for its end. */
  async build(spec: Partial<BuildSpec>, files: Record<string, string>): Promise<Build> {
    const { id } = await this.order(spec, files);
    return await this.ended(id);
  }

  async ended(id: string): Promise<Build> {
    await until("the build ends", () => this.host.builds.observe(id)?.endedAt !== null);
    const build = this.host.builds.observe(id);
    if (build === null) throw new Error(`there is no build ${id}`);
    return build;
  }

  /** All lines of a build's log. */
  async log(id: string): Promise<BuildLogLine[]> {
    const lines: BuildLogLine[] = [];
    for (let after = 0; ;) {
      const slice = await this.host.builds.log(id, { after }, new AbortController().signal);
      if (slice.lines.length === 0) return lines;
      lines.push(...slice.lines);
      after = slice.next;
    }
  }

  /** The texts of a build's log. */
  async texts(id: string): Promise<string[]> {
    return (await this.log(id)).map(({ text }) => text);
  }
}

/** The Bun that runs the tests, which other users can read. */
export function ownEngine() {
  const program = process.execPath;
  return {
    name: "application" as const,
    version: "test",
    origin: "pilvi" as const,
    program,
    home: dirname(program),
    env: {},
  };
}

let made = 0;

/** An id that no other test has. */
export function testId(what: string): string {
  made += 1;
  return `${what}-${process.pid}-${made}-${Date.now().toString(36)}`;
}

/** A spec of a build with nothing to do. */
export function buildSpec(changes: Partial<BuildSpec>): BuildSpec {
  return {
    id: testId("depl"),
    environment: "env-test",
    runtime: { name: "bun" },
    steps: [],
    variables: {},
    secrets: [],
    memoryBytes: 512 * MIB,
    cpus: null,
    maxProcesses: 128,
    diskBytes: 256 * MIB,
    deadlineSeconds: 60,
    ...changes,
  };
}

/** A spec of a server on Bun. */
export function applicationSpec(changes: Partial<ApplicationSpec>): ApplicationSpec {
  return {
    kind: "application",
    id: testId("app"),
    engines: ["application"],
    sleepAfterSeconds: null,
    users: [],
    exposure: { port: freePort(), scope: "loopback", through: "engine" },
    environment: "env-test",
    release: "none",
    runtime: { name: "bun" },
    command: "bun server.js",
    variables: {},
    memoryBytes: 256 * MIB,
    cpus: null,
    maxProcesses: 64,
    healthPath: "/",
    startTimeoutSeconds: 20,
    shutdownTimeoutSeconds: 5,
    ...changes,
  };
}

/** A tar of files by name. */
export function tarOf(files: Record<string, string>): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-source-"));
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    return tarOfFolder(folder, ["."]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A tar of members of a folder. */
export function tarOfFolder(folder: string, members: string[], options: string[] = []): Uint8Array {
  const { stdout, success, stderr } = Bun.spawnSync([
    "tar",
    "--create",
    `--directory=${folder}`,
    ...options,
    ...members,
  ]);
  if (!success) throw new Error(stderr.toString());
  return stdout;
}
