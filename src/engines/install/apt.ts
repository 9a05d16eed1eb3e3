// An apt of our own beside the system's: it reads the system's settings, keys and list of installed packages, and
// writes only into its own folder.
import { mkdir, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AptSource, renderSources } from "./apt-sources.ts";
import { run } from "./run.ts";

/** A package in one version. */
export interface DebianPackage {
  name: string;
  version: string;
  architecture: string;
}

/** Debian's word for this machine's processor. */
const DEBIAN_ARCHITECTURE = process.arch === "x64" ? "amd64" : process.arch;

/** The C library must fit the system's loader: a second C library beside it makes every program crash. */
const SYSTEM_ONLY = new Set(["libc6", "libc-bin"]);

export interface AptOptions {
  /**
   * Treats nothing of the system as installed, so that all dependencies of a program are resolved, even the C library.
   */
  isBare?: boolean;
}

/** A private apt. */
export class Apt {
  readonly #folder: string;
  readonly #archives: string;
  readonly #isBare: boolean;
  /** The fault of the package lists, which explains why a package is not found later. */
  #listsFault: string | undefined;

  private constructor(folder: string, isBare: boolean) {
    this.#folder = folder;
    this.#isBare = isBare;
    this.#archives = join(folder, "archives");
  }

  /** @param folder an empty folder for all that apt writes. */
  static async create(folder: string, sources: AptSource[], options: AptOptions = {}): Promise<Apt> {
    const { isBare = false } = options;
    const apt = new Apt(folder, isBare);
    for (const part of ["state/lists/partial", "cache/archives/partial", "sources", "archives"]) {
      await mkdir(join(folder, part), { recursive: true });
    }
    await writeFile(join(folder, "sources", "pilvi.sources"), renderSources(sources, DEBIAN_ARCHITECTURE));
    await writeFile(join(folder, "status"), "");
    await writeFile(join(folder, "apt.conf"), configOf(folder, isBare));
    return apt;
  }

  /** Fetches the package lists; an unreachable source is only noted. */
  async update(): Promise<void> {
    const { stderr } = await this.#get("update");
    const fault = stderr.split("\n").find((line) => /^[EW]: /.test(line));
    this.#listsFault = fault?.slice("E: ".length).trim();
  }

  /**
   * The given packages, and those of their dependencies that the system lacks; with `isBare`, all of their
   * dependencies.
   * @throws Error when they cannot be resolved.
   */
  async resolve(packages: string[]): Promise<DebianPackage[]> {
    const { code, stdout, stderr } = await this.#get(
      "install",
      "--simulate",
      "--no-install-recommends",
      ...packages,
    );
    const lacking = parseSimulation(stdout).filter(({ name }) => this.#isBare || !SYSTEM_ONLY.has(name));
    if (code === 0 && lacking.length > 0) return lacking;
    const reason = /^E: (.*)$/m.exec(stderr)?.[1] ?? `apt has nothing to install for ${packages.join(", ")}`;
    throw new Error(this.#listsFault ?? reason);
  }

  /**
   * The newest version of a package, even when the system has it.
   * @throws Error when there is no version.
   */
  async find(name: string): Promise<DebianPackage> {
    const { stdout } = await this.#get("download", "--print-uris", name);
    const [, file = ""] = /^'[^']*' (\S+\.deb) /m.exec(stdout) ?? [];
    const [, version, architecture] = /^[^_]+_([^_]+)_([^_]+)\.deb$/.exec(file) ?? [];
    if (version === undefined || architecture === undefined) {
      throw new Error(this.#listsFault ?? `apt does not find the package ${name}`);
    }
    return { name, version: version.replaceAll("%3a", ":"), architecture };
  }

  /** Downloads all packages in one call; `archiveOf` reports a package that is missing afterwards. */
  async download(packages: DebianPackage[]): Promise<void> {
    const wanted = packages.map(({ name, version, architecture }) => `${name}:${architecture}=${version}`);
    const { code, stderr } = await this.#get("download", ...new Set(wanted));
    if (code !== 0) this.#listsFault ??= /^E: (.*)$/m.exec(stderr)?.[1];
  }

  /**
   * The path of a downloaded package.
   * @throws Error when it was not downloaded.
   */
  archiveOf({ name, version, architecture }: DebianPackage): string {
    const file = join(this.#archives, `${name}_${version.replaceAll(":", "%3a")}_${architecture}.deb`);
    if (existsSync(file)) return file;
    throw new Error(this.#listsFault ?? `the package ${name} ${version} could not be downloaded`);
  }

  #get(command: string, ...args: string[]) {
    // `apt-get download` writes into the working directory. The option for the file comes after all other settings, and
    // so wins.
    const config = join(this.#folder, "apt.conf");
    return run(["apt-get", "--config-file", config, "--quiet=2", command, ...args], this.#archives);
  }
}

/** Reads the `Inst` lines of a simulated installation: `Inst NAME [OLD VERSION] (VERSION ORIGIN [ARCHITECTURE])`. */
export function parseSimulation(output: string): DebianPackage[] {
  const lines = output.matchAll(/^Inst ([^\s:]+)\S* (?:\[\S+\] )?\((\S+) .*?\[(\w+)\]\)/gm);
  return [...lines].map(([, name = "", version = "", architecture = ""]) => ({
    name,
    version,
    architecture,
  }));
}

function configOf(folder: string, isBare: boolean): string {
  return [
    // The system's hooks would act on the system's own lists and caches.
    "#clear APT::Update::Pre-Invoke;",
    "#clear APT::Update::Post-Invoke;",
    "#clear APT::Update::Post-Invoke-Success;",
    `Dir::State "${folder}/state";`,
    `Dir::State::lists "lists/";`,
    `Dir::State::status "${isBare ? join(folder, "status") : "/var/lib/dpkg/status"}";`,
    `Dir::Cache "${folder}/cache";`,
    `Dir::Cache::archives "archives/";`,
    // Containers often disable both caches, and without them each call reads all lists anew.
    `Dir::Cache::pkgcache "pkgcache.bin";`,
    `Dir::Cache::srcpkgcache "srcpkgcache.bin";`,
    `Dir::Etc::SourceList "/dev/null";`,
    `Dir::Etc::SourceParts "${folder}/sources";`,
    `Acquire::GzipIndexes "false";`,
    `Acquire::Languages "none";`,
    `Acquire::Retries "2";`,
    `Acquire::http::Timeout "20";`,
    `Acquire::https::Timeout "20";`,
    // The user of apt's sandbox cannot enter our folder.
    ...(process.getuid?.() === 0 ? [`APT::Sandbox::User "root";`] : []),
    "",
  ].join("\n");
}
