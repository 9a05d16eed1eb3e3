// What a real edge keeps for clients of HTTP/2, whose requests have a whole address in place of a path and a name.
import { expect, test } from "bun:test";
import { connect, type ClientHttp2Session } from "node:http2";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { makeAuthority, makeServerCertificate } from "../../processes/tls/x509.ts";

async function ask(session: ClientHttp2Session, name: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const stream = session.request({ ":path": "/", ":authority": name });
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (part: string) => (text += part));
  stream.on("end", () => resolve(text));
  stream.on("error", reject);
  return await promise;
}

test("an answer over HTTP/2 is kept for its own name, and for HTTPS alone", async () => {
  const period = { from: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 86_400_000) };
  const certificate = makeServerCertificate(makeAuthority(period), ["localhost"], period);
  const lone = await LoneEdge.start({ certificate });
  const session = connect(`https://127.0.0.1:${lone.httpsPort}`, { rejectUnauthorized: false });
  try {
    let asked = 0;
    for (const id of ["a", "b"]) {
      lone.serve(id, ({ headers }) => {
        asked += 1;
        const text = `${id} ${headers.get("x-forwarded-proto")} ${asked}`;
        return new Response(text, { headers: { "cache-control": "public, max-age=60" } });
      });
      await lone.route(id, [`${id}.localhost`], id, 30, { cacheVersion: "v1" });
    }
    for (const name of ["a.localhost", "b.localhost"]) {
      await ask(session, name);
      const kept = await ask(session, name);
      expect(kept).toStartWith(`${name[0]} https`);
      expect(await ask(session, name)).toBe(kept);
      expect(await (await lone.get(name)).text()).toStartWith(`${name[0]} http `);
    }
    expect(asked).toBe(6);
  } finally {
    session.close();
    await lone.close();
  }
});
