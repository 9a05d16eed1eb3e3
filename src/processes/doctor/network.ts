// Checks the ports: the port of the API, and the range for instances.
import { createServer } from "node:net";
import { readFileSync } from "node:fs";
import type { Config } from "../../config.ts";
import { codeOf } from "../../lib/errors.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

/** Long enough for a busy machine: a Pilvi that answers late is no other program. */
const ANSWER_TIMEOUT_MS = 10_000;
/** The kernel's settings of ports, for IPv6 too. */
const SYSCTLS = "/proc/sys/net/ipv4";

type PortRange = Config["portRange"];

/** @returns a finding for the API's port and a finding for the range. */
export async function checkNetwork(config: Config): Promise<Finding[]> {
  return [await apiPortFinding(config), portRangeFinding(config)];
}

async function apiPortFinding(config: Config): Promise<Finding> {
  const { host, port } = config;
  const at = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const fault = await listenFault(host, port);
  if (fault === undefined) return ok(`API port ${at} is free`);
  if (fault !== "EADDRINUSE") {
    return fail(
      `API port ${at} cannot be used (${fault})`,
      "Set PILVI_HOST and PILVI_PORT to another address.",
    );
  }
  const url = `${config.tls === undefined ? "http" : "https"}://${at}`;
  if (await isPilvi(url)) return ok(`Pilvi answers at ${url}`);
  return fail(
    `API port ${at} is taken by another program, or by a Pilvi that does not answer`,
    "Stop that program, or set PILVI_PORT.",
  );
}

/** The code of the error when the address cannot be listened on; undefined when it can. */
function listenFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(codeOf(error) ?? "unknown error"));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}

async function isPilvi(url: string): Promise<boolean> {
  try {
    // The certificate is for the name that clients use, which this address need not be.
    const answer = await fetch(`${url}/openapi.json`, {
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      tls: { rejectUnauthorized: false },
    });
    return answer.ok && (await answer.text()).includes("Pilvi");
  } catch {
    return false;
  }
}

function portRangeFinding({ portRange }: Config): Finding {
  const { first, last } = portRange;
  const text = `ports ${first}-${last} for ${last - first + 1} instances`;
  const outgoing = readFileSync(`${SYSCTLS}/ip_local_port_range`, "utf8");
  if (!mayGoOut(portRange, outgoing, readFileSync(`${SYSCTLS}/ip_local_reserved_ports`, "utf8")))
    return ok(text);
  return warn(
    `${text} overlap with those that the system gives to outgoing connections, ${outgoing.trim().split(/\s+/).join("-")}`,
    `Set PILVI_PORT_RANGE to ports outside of these, or reserve its ports by \`sysctl net.ipv4.ip_local_reserved_ports=${first}-${last}\`; otherwise an instance may find its port taken.`,
  );
}

/**
 * Whether the system may give a port of the range to an outgoing connection.
 * @param outgoing the text of `ip_local_port_range`: the lowest port and the highest.
 * @param reserved the text of `ip_local_reserved_ports`: ports and ranges that are left out, with commas between them.
 */
export function mayGoOut({ first, last }: PortRange, outgoing: string, reserved: string): boolean {
  const [lowest = 0, highest = 0] = outgoing.trim().split(/\s+/).map(Number);
  const ranges = reserved
    .trim()
    .split(",")
    .filter((part) => part !== "")
    .map((part) => part.split("-").map(Number));
  for (let port = Math.max(first, lowest); port <= Math.min(last, highest); port += 1) {
    if (!ranges.some(([from = 0, to = from]) => port >= from && port <= to)) return true;
  }
  return false;
}
