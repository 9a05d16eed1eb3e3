// Starts a program that listens at a port below 1,024 as a user of its own, with that one right of root's.
import type { Account } from "../../engines/engine.ts";

const SETPRIV = "/usr/bin/setpriv";
const RIGHT = "+net_bind_service";

/**
 * The words before a command that is started by root. They make it the user's, with the right to such ports.
 * @param env the variables of the program, which setpriv itself, as root, does not get.
 */
export function lowPortPrefix({ uid, gid }: Account, env: Record<string, string>): string[] {
  return [
    SETPRIV,
    `--reuid=${uid}`,
    `--regid=${gid}`,
    "--clear-groups",
    `--bounding-set=-all,${RIGHT}`,
    `--inh-caps=-all,${RIGHT}`,
    `--ambient-caps=-all,${RIGHT}`,
    "/usr/bin/env",
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
  ];
}
