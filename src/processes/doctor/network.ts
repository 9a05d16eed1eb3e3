// Checks the ports: the port of the API, and the range for instances.
import { createServer } from "node:net";
import { readFileSync } from "node:fs";
import type { Config } from "../../config.ts";
import { codeOf } from "../../lib/errors.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

const ANSWER_TIMEOUT_MS = 2000;

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
  return fail(`API port ${at} is taken by another program`, "Stop that program, or set PILVI_PORT.");
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

function portRangeFinding({ portRange: { first, last } }: Config): Finding {
  const text = `ports ${first}-${last} for ${last - first + 1} instances`;
  const [lowest = 0, highest = 0] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8")
    .split(/\s+/)
    .map(Number);
  if (last < lowest || first > highest) return ok(text);
  return warn(
    `${text} overlap with those that the system gives to outgoing connections, ${lowest}-${highest}`,
    "Set PILVI_PORT_RANGE to ports outside of these, or an instance may find its port taken.",
  );
}
