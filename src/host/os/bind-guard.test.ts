// The kernel's refusal of a port to all users but one, with real sockets. It needs root.
import { expect, test } from "bun:test";
import { AF_INET, AF_INET6, memoryOf, SOCK_CLOEXEC, SOCK_STREAM, sockets } from "../../lib/socket-calls.ts";
import { inetName } from "../../lib/socket-names.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { canGuardBinding, guardBinding } from "./bind-guard.ts";

const ownUid = process.getuid?.() ?? 0;
const OTHER = 54_321;
const ADDRESSES = [
  [AF_INET, "127.0.0.1"],
  [AF_INET6, "::1"],
] as const;

/** The addresses that this process can bind. */
function bindable(port: number): string[] {
  return ADDRESSES.filter(([family, address]) => {
    const fd = sockets.socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const name = inetName(address, port);
    const isBound = sockets.bind(fd, memoryOf(name), name.length) === 0;
    sockets.close(fd);
    return isBound;
  }).map(([, address]) => address);
}

const all = ADDRESSES.map(([, address]) => address);

test("a guarded port is refused to other users only, and to nobody once the guard is closed", () => {
  const port = freePort();
  const guard = guardBinding(port, OTHER);
  // An ordinary user may not ask the kernel, so there is no guard.
  if (ownUid !== 0) return expect(guard).toBeNull();
  expect(guard).not.toBeNull();
  expect(bindable(port)).toEqual([]);
  expect(bindable(freePort())).toEqual(all);
  guard?.close();
  expect(bindable(port)).toEqual(all);
  const own = guardBinding(port, ownUid);
  expect(bindable(port)).toEqual(all);
  own?.close();
});

test("guards of two ports hold at the same time", () => {
  if (ownUid !== 0) return expect(guardBinding(freePort(), OTHER)).toBeNull();
  const [one, other] = [freePort(), freePort()];
  const guards = [guardBinding(one, OTHER), guardBinding(other, OTHER)];
  expect([bindable(one), bindable(other)]).toEqual([[], []]);
  guards[0]?.close();
  expect([bindable(one), bindable(other)]).toEqual([all, []]);
  guards[1]?.close();
  expect(bindable(other)).toEqual(all);
});

test("whether ports can be guarded is known without refusing any", () => {
  const guard = guardBinding(freePort(), OTHER);
  expect(canGuardBinding()).toBe(guard !== null);
  guard?.close();
  expect(bindable(freePort())).toEqual(all);
});
