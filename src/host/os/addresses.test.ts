// Sockets of addresses are passed between processes of one version only.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { ADDRESS_HELLO } from "../../contracts/address-passing.ts";
import { ADDRESS_PASSING_VERSION } from "../../contracts/versions.ts";
import {
  connectForPassing,
  pairForPassing,
  passDescriptors,
  takeDescriptors,
  type Delivery,
} from "../../lib/descriptor-passing.ts";
import { HeldSocket } from "../../lib/held-socket.ts";
import { createLog } from "../../lib/log.ts";
import { sockets } from "../../lib/socket-calls.ts";
import { EndWatch } from "../../processes/program/end-watch.ts";
import { AddressKeeper } from "../../processes/program/address-keeper.ts";
import { Addresses } from "./addresses.ts";
import { canGuardBinding } from "./bind-guard.ts";
import { KeeperLink } from "./keeper-link.ts";

const OTHER_HELLO = '{"type":"hello","version":99,"more":1}\n';
/** A user that owns nothing of Pilvi. */
const OTHER_UID = 54_321;
const MISMATCHES = [
  ["99", OTHER_HELLO],
  ["no version", "+one"],
];

const log = createLog("host", "silent");
let folder: string;
let path: string;
let held: HeldSocket;
const open: number[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-addresses-"));
  path = join(folder, "addresses");
  held = HeldSocket.bind({ address: "127.0.0.1", port: freePort() });
});
afterEach(() => {
  held.close();
  for (const fd of open.splice(0)) sockets.close(fd);
  rmSync(folder, { recursive: true });
});

/** All that has arrived at an end; each descriptor is closed after the test. */
function arrived(fd: number): Delivery[] {
  const deliveries: Delivery[] = [];
  for (;;) {
    const delivery = takeDescriptors(fd);
    if (typeof delivery === "string") return deliveries;
    open.push(...delivery.descriptors);
    deliveries.push(delivery);
  }
}

/** Listens at a port as soon as that is possible, and ends then. */
const TAKE = `
  const { writeSync } = require("node:fs");
  writeSync(1, "tries");
  for (;;) {
    try {
      Bun.listen({ hostname: "127.0.0.1", port: Number(process.argv.at(-1)), socket: { data() {} } });
      break;
    } catch {}
  }
  process.exit(0);`;

/** A program of another user that tries to take a port. @returns once it tries. */
async function taker(port: number): Promise<Bun.Subprocess> {
  const program = Bun.spawn([process.execPath, "-e", TAKE, "--", String(port)], {
    uid: OTHER_UID,
    gid: OTHER_UID,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await program.stdout.getReader().read();
  return program;
}

function sentencesOf(complaints: { mock: { calls: unknown[][] } }): string[] {
  return complaints.mock.calls.map(([said]) => (said as { error: Error }).error.message);
}

test.each(MISMATCHES)(
  "a gateway that speaks %s gets no sockets, is logged once and is not believed",
  async (_, hello) => {
    const complaints = spyOn(log, "error").mockClear();
    const addresses = new Addresses(log);
    await addresses.listen(path, () => true);
    const place = { address: "127.0.0.1", port: freePort() };
    await addresses.hold("two", place, "gateway");
    for (const _again of [1, 2]) {
      const gateway = connectForPassing(path) ?? -1;
      open.push(gateway);
      // The host may accept it before it says anything.
      addresses.meet();
      passDescriptors(gateway, { text: hello, descriptors: [held.fd] });
      addresses.meet();
      expect(arrived(gateway)).toEqual([{ text: ADDRESS_HELLO, descriptors: [] }]);
    }
    const version = hello === OTHER_HELLO ? "version 99" : "no version";
    expect(sentencesOf(complaints)).toEqual([
      `The gateway speaks ${version} of the link and this process version ${ADDRESS_PASSING_VERSION}: start both from the same Pilvi.`,
    ]);
    const gateway = connectForPassing(path) ?? -1;
    open.push(gateway);
    passDescriptors(gateway, { text: ADDRESS_HELLO, descriptors: [] });
    addresses.meet();
    expect(arrived(gateway).map(({ text }) => text)).toEqual([ADDRESS_HELLO, "+two"]);
    addresses.close();
  },
);

test.each(MISMATCHES)(
  "a keeper that speaks %s is logged, and the host goes on without it",
  async (_, hello) => {
    const complaints = spyOn(log, "error").mockClear();
    const [keeper, own] = pairForPassing();
    open.push(keeper);
    passDescriptors(keeper, { text: hello, descriptors: [held.fd] });
    const addresses = new Addresses(log, new KeeperLink(own, () => {}));
    await addresses.listen(path, () => true);
    expect(sentencesOf(complaints)[0]).toStartWith("`pilvi up` speaks ");
    const place = { address: "127.0.0.1", port: freePort() };
    await addresses.hold("two", place, "gateway");
    expect(() => HeldSocket.bind(place)).toThrow("in use");
    expect(arrived(keeper)).toEqual([{ text: ADDRESS_HELLO, descriptors: [] }]);
    addresses.close();
  },
);

test.each(MISMATCHES)(
  "a host that speaks %s has nothing kept, and costs the next host nothing",
  (_, hello) => {
    const complaints: string[] = [];
    const keeper = new AddressKeeper(new EndWatch(`${path}.ends`, () => {}), (sentence) =>
      complaints.push(sentence),
    );
    const first = keeper.handOver();
    open.push(first);
    passDescriptors(first, { text: ADDRESS_HELLO, descriptors: [] });
    passDescriptors(first, { text: "+one", descriptors: [held.fd] });
    const second = keeper.handOver();
    open.push(second);
    passDescriptors(second, { text: hello, descriptors: [held.fd] });
    passDescriptors(second, { text: "-one", descriptors: [] });
    keeper.take();
    keeper.take();
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toEndWith("start both from the same Pilvi.");
    const third = keeper.handOver();
    open.push(third);
    const deliveries = arrived(third);
    expect(deliveries.map(({ text }) => text)).toEqual([ADDRESS_HELLO, "+one\n-"]);
    const [fd = -1] = deliveries[1]?.descriptors ?? [];
    expect(HeldSocket.from(open.splice(open.indexOf(fd), 1)[0] ?? -1, held.place)?.place).toEqual(held.place);
  },
);

test("no program of another user takes an address that moves a thousand times between the engine and the gateway", async () => {
  const place = { address: "127.0.0.1", port: freePort() };
  const addresses = new Addresses(log);
  await addresses.listen(path, () => true);
  await addresses.hold("moving", place, "engine");
  // An ordinary user can neither start programs of other users nor have the kernel refuse them.
  if (!canGuardBinding()) return addresses.close();
  const takers = await Promise.all([taker(place.port), taker(place.port)]);
  for (let round = 0; round < 500; round++) {
    await addresses.hold("moving", place, "gateway");
    await addresses.hold("moving", place, "engine");
  }
  expect(takers.map(({ exitCode }) => exitCode)).toEqual([null, null]);
  for (const program of takers) program.kill("SIGKILL");
  await Promise.all(takers.map(({ exited }) => exited));
  addresses.close();
});
