// A program of another user that tries without a pause to bind addresses, in every way the kernel knows, and records
// each success.
import { writeSync } from "node:fs";
import {
  AF_INET,
  AF_INET6,
  memoryOf,
  SO_REUSEADDR,
  SO_REUSEPORT,
  SOCK_CLOEXEC,
  SOCK_STREAM,
  sockets,
  SOL_SOCKET,
} from "../../../src/lib/socket-calls.ts";
import { inetName } from "../../../src/lib/socket-names.ts";

const yes = new Int32Array([1]);

const WAYS = [[], [SO_REUSEADDR], [SO_REUSEPORT], [SO_REUSEADDR, SO_REUSEPORT]];
const ADDRESSES = ["127.0.0.1", "0.0.0.0", "::"];

function tryOnce(address: string, port: number, options: number[]): boolean {
  const fd = sockets.socket(address === "::" ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  for (const option of options) sockets.setsockopt(fd, SOL_SOCKET, option, memoryOf(yes), 4);
  const name = inetName(address, port);
  const isBound = sockets.bind(fd, memoryOf(name), name.length) === 0;
  sockets.close(fd);
  return isBound;
}

const ports = process.argv.slice(2).map(Number);
for (;;) {
  writeSync(1, "round\n");
  for (const port of ports) {
    for (const options of WAYS) {
      for (const address of ADDRESSES) {
        if (tryOnce(address, port, options)) writeSync(1, `${port} at ${address} with [${options}]\n`);
      }
    }
  }
}
