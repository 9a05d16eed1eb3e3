// The input of a command as a pipe gives it, and its output without what a terminal would obey.
import { expect, test } from "bun:test";
import { join } from "node:path";

/** Runs statements on an `io` with these bytes as the input, and returns what they print. */
async function printed(statements: string, bytes: number[] = []): Promise<{ out: string; err: string }> {
  const script = `
    import { processIo } from ${JSON.stringify(join(import.meta.dirname, "io.ts"))};
    const io = processIo();
    ${statements}`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    stdin: new Uint8Array(bytes),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out, err };
}

/** What a command reads from these bytes on its input, or how that fails. */
const inputOf = (bytes: number[]) =>
  printed("console.log(await io.readInput().catch((error) => error.message));", bytes);

test("the input is text, without the mark that some editors begin it with", async () => {
  expect(await inputOf([...Buffer.from("\uFEFFmoi €")])).toEqual({ out: "moi €\n", err: "" });
});

test("an input that is no text is refused, so that no other characters are stored in its place", async () => {
  expect(await inputOf([0x61, 0xff, 0x62])).toEqual({ out: "The input is no text in UTF-8.\n", err: "" });
});

test("text for people has no escapes, and data for a program is unchanged", async () => {
  const [name, shown] = ["shop\u001b[2J", String.raw`shop\u001b[2J`];
  const call = (method: string) => printed(`io.${method}(${JSON.stringify(name)});`);
  expect(await call("out")).toEqual({ out: shown, err: "" });
  expect(await call("err")).toEqual({ out: "", err: shown });
  expect(await call("redraw")).toEqual({ out: "", err: `\r\u001b[K${shown}` });
  expect(await call("data")).toEqual({ out: name, err: "" });
});

test("on a terminal the lines of data end well, and what is in them cannot move the cursor", async () => {
  const data = JSON.stringify("a,b\r\n1,x\rpwned\u001b[2J\r\n");
  const { out } = await printed(`process.stdout.isTTY = true; io.data(${data});`);
  expect(out).toBe(String.raw`a,b${"\n"}1,x\u000dpwned\u001b[2J${"\n"}`);
});
