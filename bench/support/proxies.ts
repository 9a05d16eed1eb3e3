// The proxies that the gateway is compared with, in front of the very same engine: PgBouncer and HAProxy.
import {
  chownSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import { CannotMeasure, type Bench } from "./bench.ts";
import { firstAnswer } from "./clients.ts";
import { findPeer, type Program } from "./peers.ts";
import { socketOf, type Sleepy } from "./sleepers.ts";

/** A proxy, which runs until the end of the measurement. */
export interface Proxy {
  /** Its name and version. */
  name: string;
  port: number;
  /** The port for TLS; the same port when the proxy can detect TLS. */
  tlsPort: number;
  readonly pid: number;
  /** Kills it and starts it again as soon as its parent notices its end. */
  restart(): Promise<void>;
}

/** More than the clients of any load. */
const MOST_CLIENTS = 2_000;

/** Starts PgBouncer with a server connection for each client for as long as it stays, as the gateway does. */
export async function startPgbouncer(bench: Bench, sleepy: Sleepy): Promise<Proxy> {
  const program = await findPeer("pgbouncer");
  const port = freePort();
  const socket = socketOf(bench.pilvi, sleepy);
  const { username, password, database } = sleepy.login;
  const folder = await workFolder(bench, sleepy);
  write(folder, "users.txt", `"${username}" "${password}"\n`);
  const config = write(
    folder,
    "pgbouncer.ini",
    [
      "[databases]",
      `${database} = host=${dirname(socket)} port=${socket.split(".").at(-1)}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = scram-sha-256",
      `auth_file = ${join(folder.path, "users.txt")}`,
      "pool_mode = session",
      `default_pool_size = ${MOST_CLIENTS}`,
      `max_client_conn = ${MOST_CLIENTS}`,
      "client_tls_sslmode = allow",
      `client_tls_cert_file = ${join(folder.path, "cert.pem")}`,
      `client_tls_key_file = ${join(folder.path, "key.pem")}`,
    ].join("\n"),
  );
  const process = run(bench, folder, program, [config]);
  await untilItAnswers(sleepy, port);
  return Object.assign(process, { name: program.version, port, tlsPort: port });
}

/** Starts HAProxy with one thread, passing bytes on. */
export async function startHaproxy(bench: Bench, sleepy: Sleepy): Promise<Proxy> {
  const program = await findPeer("haproxy");
  const [port, tlsPort] = [freePort(), freePort()];
  const folder = await workFolder(bench, sleepy);
  const pair = ["cert.pem", "key.pem"].map((name) => readFileSync(join(folder.path, name), "utf8"));
  const pem = write(folder, "pair.pem", pair.join(""));
  // HAProxy refuses paths of sockets above 97 bytes.
  const socket = join(folder.path, "engine");
  symlinkSync(socketOf(bench.pilvi, sleepy), socket);
  const config = write(
    folder,
    "haproxy.cfg",
    [
      "global",
      "  nbthread 1",
      `  maxconn ${MOST_CLIENTS}`,
      "defaults",
      "  mode tcp",
      "  timeout connect 5s",
      "  timeout client 1h",
      "  timeout server 1h",
      "frontend clients",
      `  bind 127.0.0.1:${port}`,
      `  bind 127.0.0.1:${tlsPort} ssl crt ${pem}`,
      "  default_backend engine",
      "backend engine",
      `  server engine unix@${socket}`,
      "",
    ].join("\n"),
  );
  const process = run(bench, folder, program, ["-db", "-f", config]);
  await untilItAnswers(sleepy, port);
  const [, , version] = program.version.split(" ");
  return Object.assign(process, { name: `HAProxy ${version}`, port, tlsPort });
}

/** A folder of the user that may reach the engine's socket; the proxies run as that user too. */
interface WorkFolder {
  path: string;
  owner: { uid: number; gid: number };
}

async function workFolder({ pilvi }: Bench, { id }: Sleepy): Promise<WorkFolder> {
  const { uid, gid } = statSync(join(pilvi.dataDir, "instances", id, "data"));
  const folder = { path: mkdtempSync(join(pilvi.dataDir, "proxy-")), owner: { uid, gid } };
  chownSync(folder.path, uid, gid);
  const files = ["-keyout", join(folder.path, "key.pem"), "-out", join(folder.path, "cert.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"];
  const command = ["openssl", "req", "-x509", ...kind, ...files];
  const child = Bun.spawn(command, { stdio: ["ignore", "ignore", "pipe"] });
  const complaint = await child.stderr.text();
  if ((await child.exited) !== 0) throw new CannotMeasure(`openssl makes no certificate: ${complaint}`);
  for (const name of ["key.pem", "cert.pem"]) own(folder, name);
  return folder;
}

function write(folder: WorkFolder, name: string, text: string): string {
  writeFileSync(join(folder.path, name), text, { mode: 0o600 });
  own(folder, name);
  return join(folder.path, name);
}

function own({ path, owner }: WorkFolder, name: string): void {
  chmodSync(join(path, name), 0o600);
  chownSync(join(path, name), owner.uid, owner.gid);
}

/** A process that can be started again. */
class ProxyProcess {
  readonly #spawn: () => Bun.Subprocess;
  #process: Bun.Subprocess;

  constructor(spawn: () => Bun.Subprocess) {
    this.#spawn = spawn;
    this.#process = spawn();
  }

  get pid(): number {
    return this.#process.pid;
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
  }

  async restart(): Promise<void> {
    await this.kill();
    this.#process = this.#spawn();
  }
}

function run({ atEnd }: Bench, { path, owner }: WorkFolder, program: Program, args: string[]): ProxyProcess {
  const process = new ProxyProcess(() =>
    Bun.spawn([program.path, ...args], {
      cwd: path,
      env: program.env,
      // Like a service it has a session of its own, by which the kernel shares out the processors; the gateway has its
      // own, too.
      detached: true,
      stdio: ["ignore", "ignore", "ignore"],
      ...owner,
    }),
  );
  atEnd(() => process.kill());
  return process;
}

async function untilItAnswers(sleepy: Sleepy, port: number): Promise<void> {
  await firstAnswer({ ...sleepy, place: { hostname: "127.0.0.1", port } });
}
