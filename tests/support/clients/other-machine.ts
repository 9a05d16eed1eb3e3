// Another machine, as far as the kernel's network knows: a network namespace behind a pair of interfaces.

/** How long the other machine waits for an answer. A refused packet of the kernel's is sent again after a second. */
const TIMEOUT_MS = 1_500;

/** Addresses for benchmarks, which no machine has; each process has four of its own. */
const FIRST_ADDRESS = (198 << 24) + (18 << 16);

export class OtherMachine {
  readonly #name = `pilvi-${process.pid}`;
  /** The interface of this machine, whose name may have 15 characters. */
  readonly #near = `pt${process.pid}a`;
  readonly #nearAddress = addressAt(4 * (process.pid % 2 ** 15) + 1);

  constructor() {
    const far = `pt${process.pid}b`;
    const farAddress = addressAt(4 * (process.pid % 2 ** 15) + 2);
    ip("netns", "add", this.#name);
    ip("link", "add", this.#near, "type", "veth", "peer", "name", far, "netns", this.#name);
    ip("address", "add", `${this.#nearAddress}/30`, "dev", this.#near);
    ip("link", "set", this.#near, "up");
    ip("-n", this.#name, "address", "add", `${farAddress}/30`, "dev", far);
    ip("-n", this.#name, "link", "set", far, "up");
  }

  /** Whether it reaches a port of this machine. */
  reaches(port: number): boolean {
    const attempt = `const timer = setTimeout(() => process.exit(1), ${TIMEOUT_MS});
      Bun.connect({ hostname: "${this.#nearAddress}", port: ${port}, socket: { data() {} } }).then(
        () => process.exit(0),
        () => process.exit(1),
      );`;
    const words = ["ip", "netns", "exec", this.#name, process.execPath, "-e", attempt];
    return Bun.spawnSync(words, { stdio: ["ignore", "inherit", "inherit"] }).exitCode === 0;
  }

  /** The far interface goes with the near. */
  close(): void {
    ip("link", "delete", this.#near);
    ip("netns", "delete", this.#name);
  }
}

function addressAt(offset: number): string {
  const address = FIRST_ADDRESS + offset;
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".");
}

function ip(...words: string[]): void {
  const { success, stderr } = Bun.spawnSync(["ip", ...words]);
  if (!success) throw new Error(`ip ${words.join(" ")}: ${stderr.toString()}`);
}
