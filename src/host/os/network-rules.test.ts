// The rules of the network without a host: a connection that goes on after its port was taken back.
import { afterAll, expect, test } from "bun:test";
import { loadConfig } from "../../config.ts";
import { createLog } from "../../lib/log.ts";
import { NetworkRules } from "./network-rules.ts";

/** A user without other processes. */
const UID = 99_001;

const SERVER = `
const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data(socket, data) { socket.write(data); } } });
console.log(server.port);`;

const children: Bun.Subprocess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

test("no process goes on with connections of a port that it has no more", async () => {
  const { enginesDir } = loadConfig(process.env);
  const child = Bun.spawn([process.execPath, "-e", SERVER], {
    cwd: "/",
    uid: UID,
    gid: UID,
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  const parts = { dataDir: "/rules-of-a-test", enginesDir, portRange: { first: port, last: port } };
  const rules = new NetworkRules({ ...parts, uids: () => [UID], log: createLog("host", "silent") });
  await rules.grant("app", { uid: UID, reaches: [], port });

  let answer = Promise.withResolvers<boolean>();
  const kept = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: { data: () => answer.resolve(true) },
  });
  const answered = async () => {
    answer = Promise.withResolvers<boolean>();
    kept.write("hello");
    return await Promise.race([answer.promise, Bun.sleep(500).then(() => false)]);
  };
  expect(await answered()).toBe(true);
  await rules.revoke("app");
  expect(await answered()).toBe(false);
  kept.terminate();
  await rules.close();
});
