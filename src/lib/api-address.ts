// Addresses to listen on, and the URLs that lead there.
import { isIP } from "node:net";

/** Whether only this machine can reach the address. */
export function isLoopback(ip: string): boolean {
  return ip === "::1" || ip.startsWith("127.");
}

/** Whether the address stands for all interfaces. */
export function isWildcard(ip: string): boolean {
  return ip === "0.0.0.0" || ip === "::";
}

/** The URL for a client on this machine of what listens at an address. */
export function urlOf(host: string, apiPort: number, isTls: boolean): string {
  return `${isTls ? "https" : "http"}://${inUrl(reachable(host))}:${apiPort}`;
}

/** The address to connect to for an address to listen on. */
function reachable(ip: string): string {
  if (ip === "0.0.0.0") return "127.0.0.1";
  return ip === "::" ? "::1" : ip;
}

function inUrl(ip: string): string {
  return isIP(ip) === 6 ? `[${ip}]` : ip;
}

/** Whether the host of a URL is this machine. A name such as `127.example.com` is not. */
export function isLoopbackName(name: string): boolean {
  const ip = name.replace(/^\[|\]$/g, "");
  return name === "localhost" || (isIP(ip) !== 0 && isLoopback(ip));
}

/** Whether a text is the URL of an API, with nothing after its path. */
export function isClientUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && search === "" && hash === "";
}
