// Measures the throughput of the edge, with one name and with 5,000, beside HAProxy configured by hand in front of the
// very same application: once to forward requests alone, and once to do the edge's work for that application. All of
// them share the processors with the load. Under full load the time of an answer follows from the requests a second, so
// it is also measured under one load for all.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LoneEdge } from "../tests/support/engines/lone-edge.ts";
import { installedEngine } from "../tests/support/engines/lone-engine.ts";
import { freePort } from "../tests/support/pilvi/ports.ts";
import { policyOf } from "../src/resources/applications/environments/policy.ts";
import { DEFAULT_SETTINGS } from "../src/resources/applications/environments/settings.ts";
import { commandOf } from "../src/engines/installed.ts";
import { CannotMeasure, runWithoutPilvi, type Endings } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { findPeer, type Program } from "./support/peers.ts";
import {
  perSecond,
  printColumns,
  printFloor,
  printRow,
  printTarget,
  times,
  milliseconds,
} from "./support/report.ts";
import { median, percentile } from "./support/statistics.ts";

/** Processes of each side: two processes of one program differ by a tenth here, and two rounds of one hardly. */
const PROCESSES = countOption(16);
const NAMES = 5_000;
const NAMES_OF_ROUTE = 100;
const CLIENTS = 32;
const SECONDS = 2;
/** Of the requests a second of HAProxy with the same work, under full load. */
const PACED_SHARE = 0.5;
const PACED_SECONDS = 2;
/** How long after each other the clients begin under that load. */
const CLIENT_AFTER_MS = 3;
const NAME = "a.localhost";
/** Of the requests per second of HAProxy by hand and of the edge with one name, and of the p99 of HAProxy by hand. */
const TARGETS = { ofHaproxy: 0.95, ofOneName: 0.95, p99: 1.05 };

/** What the least configuration needs beside an application, and what a careful person adds to match the edge. */
const LEAST = { frontend: ["option forwardfor"], backend: [] };
const MATCHING = {
  frontend: [
    "option forwardfor",
    "option http-restrict-req-hdr-names delete",
    "compression algo gzip",
    "compression type text/html text/plain text/css application/javascript application/json",
    "unique-id-format %[uuid()]",
    "http-request del-header X-Forwarded- -m beg",
    "http-request del-header Forwarded",
    "http-request del-header Proxy",
    "http-request set-header X-Real-Ip %[src]",
    "http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]",
    "http-request set-header X-Forwarded-Host %[req.hdr(host)]",
    "http-request set-header X-Forwarded-Port %[dst_port]",
    "http-request set-header X-Request-Id %[unique-id]",
    "http-response set-header X-Request-Id %[unique-id]",
    "http-request deny if { path,url_dec,lower -m sub /.git/ /.svn/ /.aws/ /.ssh/ /vendor/phpunit/ }",
    "http-request deny if { path,url_dec,lower -m end /.env /.htpasswd /id_rsa }",
    "http-response set-header X-Frame-Options DENY unless { res.hdr(X-Frame-Options) -m found }",
    "http-response set-header X-Content-Type-Options nosniff unless { res.hdr(X-Content-Type-Options) -m found }",
    "log ring@lines format raw daemon info",
    'log-format \'{"s":%ST,"b":%B,"d":%Ta,"i":"%[src]","m":"%HM"}\'',
  ],
  backend: ["retry-on conn-failure empty-response", "http-reuse always"],
};

/** A way to the application, with the measurements of each process. */
interface Side {
  label: string;
  /** Starts a process, and returns its port. */
  start(endings: Endings): Promise<number>;
  rates: number[];
  p99s: number[];
  /** Under the load that is the same for all. */
  pacedP99s: number[];
}

/** The programs that make the load. */
interface Loaders {
  full: Program;
  paced: Program;
}

await runWithoutPilvi(
  `edge-throughput: requests a second, ${CLIENTS} clients, medians of ${PROCESSES} processes`,
  async (bench) => {
    const loaders = { full: await findPeer("wrk"), paced: await findPeer("h2load") };
    const application = await startApplication(bench);
    const direct = side("the application itself", () => Promise.resolve(application));
    const least = side("HAProxy by hand, forwarding alone", (endings) =>
      startByHand(endings, application, LEAST),
    );
    const byHand = side("HAProxy by hand, same work", (endings) =>
      startByHand(endings, application, MATCHING),
    );
    const one = side("the edge with one name", (endings) => startEdge(endings, application, 1));
    const many = side(`the edge with ${NAMES} names`, (endings) => startEdge(endings, application, NAMES));
    const sides = [direct, least, byHand, one, many];
    for (let process = 0; process < PROCESSES; process += 1) await measureAll(bench, loaders, sides, byHand);
    printColumns("rate", "of direct", "p99", "p99 paced");
    for (const each of sides) printSide(each, direct);
    printFloor("the edge beside HAProxy with the same work", ratio(one, byHand), TARGETS.ofHaproxy, times);
    printFloor("the edge beside HAProxy that forwards alone", ratio(one, least), TARGETS.ofHaproxy, times);
    printFloor(`${NAMES} names beside one`, ratio(many, one), TARGETS.ofOneName, times);
    const p99 = median(one.p99s) / median(byHand.p99s);
    printTarget("p99 beside HAProxy with the same work, full load", p99, TARGETS.p99, times);
    const paced = median(one.pacedP99s) / median(byHand.pacedP99s);
    printTarget("p99 beside HAProxy with the same work, the same load", paced, TARGETS.p99, times);
  },
);

/** Measures a process of every side, each after a first round that does not count. @param pace the side that sets the load. */
async function measureAll(
  { atEnd }: Endings,
  loaders: Loaders,
  sides: readonly Side[],
  pace: Side,
): Promise<void> {
  const ends: Parameters<Endings["atEnd"]>[0][] = [];
  const endAll = async () => {
    for (const end of ends.splice(0)) await end();
  };
  atEnd(endAll);
  const running: { each: Side; port: number }[] = [];
  for (const each of sides)
    running.push({ each, port: await each.start({ atEnd: (end) => void ends.push(end) }) });
  for (const isCounted of [false, true]) {
    for (const { each, port } of running) await measure(loaders.full, each, port, isCounted);
  }
  const requests = median(pace.rates) * PACED_SHARE;
  for (const { each, port } of running) each.pacedP99s.push(await pacedP99(loaders.paced, port, requests));
  await endAll();
}

function ratio(reached: Side, beside: Side): number {
  return median(reached.rates) / median(beside.rates);
}

function side(label: string, start: Side["start"]): Side {
  return { label, start, rates: [], p99s: [], pacedP99s: [] };
}

/** Another process, so that the load and the application do not share a thread. */
async function startApplication({ atEnd }: Endings): Promise<number> {
  const port = freePort();
  const code = `Bun.serve({ hostname: "127.0.0.1", port: ${port}, fetch: () => new Response("hello") })`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdio: ["ignore", "ignore", "inherit"] });
  atEnd(async () => {
    child.kill();
    await child.exited;
  });
  await untilAnswered(port);
  return port;
}

/** The configuration that a person would write for one application. */
async function startByHand(
  { atEnd }: Endings,
  application: number,
  { frontend, backend }: { frontend: string[]; backend: string[] },
): Promise<number> {
  const port = freePort();
  const folder = mkdtempSync(join(tmpdir(), "pilvi-edge-bench-"));
  const file = join(folder, "haproxy.cfg");
  writeFileSync(
    file,
    `global
  maxconn 4000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
ring lines
  size 4194304
frontend web
  bind 127.0.0.1:${port}
  ${frontend.join("\n  ")}
  use_backend application if { hdr(host) -i ${NAME} }
backend application
  ${[...backend, `server one 127.0.0.1:${application}`].join("\n  ")}
`,
  );
  const installed = await installedEngine("haproxy");
  const child = Bun.spawn([...commandOf(installed), "-db", "-f", file], {
    env: installed.env,
    stdio: ["ignore", "ignore", "ignore"],
    // In a session of its own, as the edge and as any service: the kernel shares the processors among sessions first.
    detached: true,
  });
  atEnd(async () => {
    child.kill();
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  });
  await untilAnswered(port);
  return port;
}

async function startEdge({ atEnd }: Endings, application: number, names: number): Promise<number> {
  const lone = await LoneEdge.start();
  atEnd(() => lone.close());
  lone.add("a", "running", application);
  await lone.route("a", [NAME], "a", 30, policyOf(DEFAULT_SETTINGS, ["a"]));
  for (let first = 1; first < names; first += NAMES_OF_ROUTE) {
    const others = Array.from({ length: NAMES_OF_ROUTE }, (_, index) => `n${first + index}.localhost`);
    await lone.route(`r${first}`, others, "a");
  }
  return lone.port;
}

async function measure(wrk: Program, { rates, p99s }: Side, port: number, isCounted: boolean): Promise<void> {
  const url = `http://127.0.0.1:${port}/`;
  const options = ["-t1", `-c${CLIENTS}`, `-d${SECONDS}s`, "--latency", "-H", `Host: ${NAME}`, url];
  const child = Bun.spawn([...(wrk.loader ?? []), wrk.path, ...options], {
    env: wrk.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const text = await child.stdout.text();
  if (/Non-2xx|Socket errors/.test(text)) throw new CannotMeasure(`requests failed: ${text}`);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
  const [, p99, unit = "ms"] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  if (!isCounted) return;
  rates.push(rate);
  p99s.push(Number(p99) * ({ us: 0.001, ms: 1, s: 1_000 }[unit] ?? 1));
}

/** The p99 in milliseconds under a number of requests a second. */
async function pacedP99(
  { path, loader = [], env }: Program,
  port: number,
  requests: number,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-edge-bench-"));
  const log = join(folder, "requests.tsv");
  const load = ["--h1", "-t1", `-c${CLIENTS}`, `--rps=${requests / CLIENTS}`];
  const count = `--requests=${Math.round(requests * PACED_SECONDS)}`;
  // The clients begin one after the other, so that their requests do not come all at once.
  const spread = ["--rate=1", `--rate-period=${CLIENT_AFTER_MS}ms`];
  const options = [...load, count, ...spread, `--log-file=${log}`, `--connect-to=127.0.0.1:${port}`];
  const child = Bun.spawn([...loader, path, ...options, `http://${NAME}/`], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  await child.exited;
  // Each line has the time of the start, the status, and the time to the answer in microseconds.
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  rmSync(folder, { recursive: true });
  const answers = lines.map((line) => line.split("\t"));
  if (answers.some(([, status]) => status !== "200"))
    throw new CannotMeasure("requests under one load failed");
  const waits = answers.map(([, , microseconds]) => Number(microseconds) / 1_000);
  return percentile(waits, 99);
}

async function untilAnswered(port: number): Promise<void> {
  const giveUpAt = performance.now() + 10_000;
  while (performance.now() < giveUpAt) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { host: NAME } }).catch(() => null);
    if (answer?.ok === true) return;
    await Bun.sleep(5);
  }
  throw new CannotMeasure(`nothing answers at port ${port}`);
}

function printSide({ label, rates, p99s, pacedP99s }: Side, direct: Side): void {
  const share = median(rates) / median(direct.rates);
  const p99 = [p99s, pacedP99s].map((each) => milliseconds(median(each)));
  printRow(label, perSecond(median(rates)), times(share), ...p99);
}
