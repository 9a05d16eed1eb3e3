// HAProxy's configuration. Nothing in it changes with the routes: those stand in maps, which change while it runs.
import type { EdgeSpec } from "../../contracts/instance-spec.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Certificate, EngineContext } from "../engine.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { ACCESS_SOCKET, accessProxy, accessRing } from "./access.ts";
import { backends, tables } from "./backends.ts";
import { BOTS_FILE, botsFile } from "./bots.ts";
import { cacheSection } from "./cache.ts";
import { crowdLua, maxConnections } from "./crowds.ts";
import { clientFrontend, hostFrontend } from "./frontends.ts";
import { luaScript } from "./lua.ts";
import { FAILURE_STATUSES, page, pageFiles } from "./pages.ts";
import { CERTIFICATE_FILE, CONFIG_FILE, confPath, RUN, SOCKET_NAME } from "./paths.ts";
import { letterOf, policyRules } from "./policy.ts";

/** The host's socket lies beside all instances. */
const WAKE_SOCKET = "../../../run/edge.sock";

/** @throws PublicError when HTTPS has no certificate. */
export function configFiles(context: EngineContext<EdgeSpec>): Record<string, string> {
  const { certificate, spec } = context;
  if (spec.httpsPort !== null && certificate === null)
    throw new PublicError("The edge has no certificate for HTTPS.");
  const applications = backends(spec, policyRules(Buffer.from(challengeSecret(context)).toString("base64")));
  const sections = [
    globalSection(context),
    accessProxy(),
    defaults(),
    accessRing(),
    cacheSection(),
    clientFrontend(context),
    hostFrontend(context),
    ...applications,
    ...tables(),
  ];
  const names = applications.map(([head = ""]) => head.replace("backend ", ""));
  return {
    [CONFIG_FILE]: `${sections.map((lines) => lines.join("\n  ")).join("\n\n")}\n`,
    "edge.lua": `${luaScript({ wakes: WAKE_SOCKET, access: ACCESS_SOCKET })}\n${crowdLua(spec, names)}`,
    [BOTS_FILE]: botsFile(letterOf),
    ...pageFiles(),
    ...(spec.httpsPort !== null && certificate !== null && { [CERTIFICATE_FILE]: pemOf(certificate) }),
  };
}

/** Certificate and key, as HAProxy reads them: at its socket, an empty line is the end. */
export function pemOf({ cert, key }: Certificate): string {
  const lines = `${cert}\n${key}`.split(/\r?\n/).filter((line) => line.trim() !== "");
  return `${lines.join("\n")}\n`;
}

function globalSection({ spec }: EngineContext<EdgeSpec>): string[] {
  return [
    "global",
    "log stdout format raw daemon notice",
    `lua-load ${confPath("edge.lua")}`,
    `stats socket unix@${RUN}/${SOCKET_NAME} mode 600 level admin`,
    "stats timeout 30s",
    `maxconn ${maxConnections(spec)}`,
    "tune.h2.max-concurrent-streams 100",
    "ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets",
  ];
}

function defaults(): string[] {
  return [
    "defaults",
    "mode http",
    "option dontlognull",
    // A client that leaves while it is held frees its place. HAProxy looks for that from the first bytes on.
    "option abortonclose",
    // PHP and others take `x_forwarded_for` for `x-forwarded-for`, so names with such characters are left out.
    "option http-restrict-req-hdr-names delete",
    "timeout connect 2s",
    "timeout client 60s",
    "timeout client-fin 10s",
    "timeout server 60s",
    "timeout server-fin 10s",
    "timeout tunnel 1h",
    // The headers of a request must be there by then, and the next request of a connection must begin by then.
    "timeout http-request 10s",
    "timeout http-keep-alive 30s",
    "timeout queue 5s",
    // One attempt a second at a port that is refused: until the host has noticed a crash, or the application is back.
    // Backends that repeat requests have a bound of their own, which counts these attempts too.
    "retries 10",
    ...FAILURE_STATUSES.map((status) => `http-error ${page(status)}`),
  ];
}

/** Derived from the secret of the instance, so that it stays the same for an edge that runs on. */
export function probeSecret({ adminPassword }: EngineContext<EdgeSpec>): string {
  return sha256Hex(`probe ${adminPassword}`);
}

function challengeSecret({ adminPassword }: EngineContext<EdgeSpec>): string {
  return sha256Hex(`challenge ${adminPassword}`);
}
