// A real sshd for tests: the machine's own, or a copy that is fetched once and unpacked beside the engines. It runs with
// users of its own: as root in a view of the machine where `git` is a user, else as the user of the test.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "../pilvi/ports.ts";
import { until } from "../pilvi/pilvi.ts";
import { PROGRAMS_HOME, runProgram } from "./programs.ts";
import { unpackPackages } from "./unpack-packages.ts";

const HOME = join(dirname(PROGRAMS_HOME), "test-sshd");
const PROGRAM = "/usr/sbin/sshd";

/** Shows sshd other users and a folder of its own, both in this process's view of the machine alone. */
const OWN_USERS =
  'mount --bind "$1" /etc/passwd && mount -t tmpfs tmpfs /run && mkdir /run/sshd && shift && exec "$@"';

/** Finds sshd, after it was fetched where the machine has none. */
export async function ensureSshServer(): Promise<{ program: string; libraries: string }> {
  if (existsSync(PROGRAM)) return { program: PROGRAM, libraries: "" };
  if (!existsSync(HOME)) await unpackPackages(["openssh-server", "libwrap0"], HOME);
  const folders = ["usr/lib", "lib"].map((folder) => join(HOME, folder));
  const patterns = new Bun.Glob("*-linux-gnu");
  const libraries = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      [...patterns.scanSync({ cwd: folder, onlyFiles: false })].map((name) => join(folder, name)),
    );
  return { program: join(HOME, PROGRAM), libraries: libraries.join(":") };
}

/** An sshd on loopback. */
export class SshServer implements AsyncDisposable {
  readonly port = freePort();
  readonly #folder: string;
  #child: Bun.Subprocess | null = null;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param folder a folder of the test's, for its files. */
  static async start(folder: string): Promise<SshServer> {
    const server = new SshServer(join(folder, "sshd"));
    mkdirSync(server.#folder);
    await server.#start();
    return server;
  }

  /** The address of a repository for git. */
  urlOf(path: string): string {
    const user = process.getuid?.() === 0 ? "git" : userInfo().username;
    return `ssh://${user}@127.0.0.1:${this.port}${path}`;
  }

  /** Lets nobody in but the owner of this key, if there is any. */
  allow(publicKey: string): void {
    writeFileSync(join(this.#folder, "authorized_keys"), `${publicKey}\n`);
  }

  /** Starts again at the same port with another host key. */
  async changeHostKey(): Promise<void> {
    await this[Symbol.asyncDispose]();
    rmSync(join(this.#folder, "host"));
    rmSync(join(this.#folder, "host.pub"));
    await this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#child?.exited;
  }

  async #start(): Promise<void> {
    const { program, libraries } = await ensureSshServer();
    const of = (name: string) => join(this.#folder, name);
    await runProgram(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", of("host")]);
    writeFileSync(of("passwd"), `git:x:0:0::${this.#folder}:/bin/sh\nsshd:x:65534:65534::/:/bin/false\n`);
    writeFileSync(of("config"), this.#settings());
    const isRoot = process.getuid?.() === 0;
    const view = isRoot ? ["unshare", "--mount", "/bin/sh", "-c", OWN_USERS, "sh", of("passwd")] : [];
    const sshd = ["/usr/bin/env", `LD_LIBRARY_PATH=${libraries}`, program, "-D", "-e", "-f", of("config")];
    this.#child = Bun.spawn([...view, ...sshd], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
    await this.#listens().catch(async (error: unknown) => {
      await this[Symbol.asyncDispose]();
      throw error;
    });
  }

  async #listens(): Promise<void> {
    await until("sshd answers", async () => {
      const found = await Bun.connect({
        hostname: "127.0.0.1",
        port: this.port,
        socket: { data() {} },
      }).catch(() => null);
      found?.terminate();
      return found !== null;
    });
  }

  #settings(): string {
    return [
      `ListenAddress 127.0.0.1:${this.port}`,
      `HostKey ${join(this.#folder, "host")}`,
      `AuthorizedKeysFile ${join(this.#folder, "authorized_keys")}`,
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin yes",
      "StrictModes no",
      "UsePAM no",
      "PidFile none",
      "",
    ].join("\n");
  }
}
