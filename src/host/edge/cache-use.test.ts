// What a real edge uses of the answers that it keeps: for which names, until when, and for which clients.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { passOf } from "../../../tests/support/engines/challenge.ts";
import { KEPT, MarkedAnswers, NAME } from "../../../tests/support/engines/marked-answers.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { withSocket } from "../../lib/unix-socket.ts";

let answers: MarkedAnswers;

beforeEach(async () => {
  answers = await MarkedAnswers.start();
});

afterEach(async () => await answers.lone.close());

function presentSecond(): number {
  return Math.floor(Date.now() / 1_000);
}

/** Has the edge forget a route, as it does after a while without requests. */
async function forget(route: string): Promise<void> {
  await withSocket(answers.lone.engine.context.paths.socket, async (unix) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await Bun.connect({
      unix,
      socket: {
        open: (socket) => void socket.write(`clear table routes key ${route}\n`),
        data: () => {},
        close: () => resolve(),
      },
    });
    await promise;
  });
}

describe("what is kept", () => {
  test("is out of use once the edge has forgotten its route", async () => {
    expect(await answers.isKept()).toBe(true);
    const began = presentSecond();
    await until("another second", () => presentSecond() > began + 1);
    await forget("a");
    await answers.mark();
    expect((await answers.ask()).isKept).toBe(false);
    expect((await answers.ask()).isKept).toBe(true);
  });

  test("belongs to one name as the client has written it, and to one route", async () => {
    await answers.lone.route("a", [NAME, "c.localhost"], "app", 30, KEPT);
    await answers.lone.route("b", ["b.localhost"], "other", 30, KEPT);
    await answers.mark();
    await answers.mark("b.localhost");
    for (const name of [NAME, "c.localhost", "b.localhost", "A.localhost", `${NAME}:80`, `${NAME}.`]) {
      const first = await answers.ask({ name });
      expect([name, first.isKept, first.text]).toEqual([name, false, expect.stringContaining(` ${name}`)]);
      expect((await answers.ask({ name })).text).toBe(first.text);
    }
    for (const name of ["a.localhost/b.localhost", "a.localhost/x", "a.localhost@b.localhost"]) {
      const answer = await answers.lone.raw(`GET / HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1.1 40[04]/);
    }
    // A name that moves takes nothing along.
    await answers.lone.route("b", [NAME], "other", 30, KEPT);
    expect((await answers.ask()).text).toContain("other ");
  });

  test("is out of use with another version, and with none", async () => {
    expect(await answers.isKept()).toBe(true);
    await answers.lone.route("a", [NAME], "other", 30, { cacheVersion: "v2" });
    expect((await answers.ask()).text).toContain("other ");
    expect((await answers.ask()).isKept).toBe(true);
    await answers.lone.route("a", [NAME], "other", 30, {});
    expect((await answers.ask()).isKept).toBe(false);
    expect((await answers.ask()).isKept).toBe(false);
    // What was kept under the same version is as old as under another.
    await answers.lone.route("a", [NAME], "app", 30, KEPT);
    expect((await answers.ask()).isKept).toBe(false);
    await answers.lone.route("a", [NAME], "app", 30, KEPT);
    expect((await answers.ask()).isKept).toBe(true);
  });

  test("has the headers of the present policy", async () => {
    expect(await answers.isKept()).toBe(true);
    await answers.lone.route("a", [NAME], "app", 30, { ...KEPT, frame: "deny" });
    const { isKept: stillKept, headers } = await answers.ask();
    expect([stillKept, headers.get("x-frame-options")]).toEqual([true, "DENY"]);
  });

  test("is for clients alone that the firewall lets pass", async () => {
    expect(await answers.isKept()).toBe(true);
    await answers.lone.route("a", [NAME], "app", 30, {
      ...KEPT,
      refusedBots: ["ai_crawler"],
      isUnderAttack: true,
    });
    const challenged = await answers.lone.get(NAME);
    expect(challenged.status).toBe(403);
    const cookie = passOf(await challenged.text());
    expect(await answers.ask({ headers: { cookie } })).toMatchObject({ isKept: true, status: 200 });
    expect((await answers.ask({ headers: { cookie, "user-agent": "GPTBot/1.2" } })).status).toBe(403);
  });

  test("answers no probe", async () => {
    expect(await answers.isKept()).toBe(true);
    const before = answers.asked;
    const seen = await answers.lone.edge.probe({ name: NAME, path: "/", timeoutSeconds: 5 });
    expect([seen.status, answers.asked]).toEqual([200, before + 1]);
  });

  test("is ended by a request that is held while its application starts", async () => {
    expect(await answers.isKept()).toBe(true);
    const port = answers.lone.applications.get("app")?.port ?? 0;
    answers.lone.change("app", { state: "starting", port: 0 });
    await answers.lone.route("b", ["b.localhost"], null);
    const held = answers.ask({ method: "POST" });
    await until("it is held", () => answers.lone.edge.waiting === 1);
    answers.lone.change("app", { state: "running", port });
    expect((await held).status).toBe(200);
    await answers.lone.route("b", ["b.localhost"], null);
    expect((await answers.ask()).isKept).toBe(false);
    expect((await answers.ask()).isKept).toBe(true);
  });

  test("answers for no application that sleeps", async () => {
    expect(await answers.isKept()).toBe(true);
    const port = answers.lone.applications.get("app")?.port ?? 0;
    const application = answers.lone.add("app", "asleep", 0, () =>
      answers.lone.change("app", { state: "running", port }),
    );
    await answers.lone.route("a", [NAME], "app", 30, KEPT);
    expect((await answers.ask()).isKept).toBe(false);
    expect(application.wakes).toBe(1);
  });
});
