// The input of a command as a pipe gives it.
import { expect, test } from "bun:test";
import { join } from "node:path";

/** What a command reads from these bytes on its input, or how that fails. */
async function inputOf(bytes: number[]): Promise<string> {
  const script = `
    import { processIo } from ${JSON.stringify(join(import.meta.dirname, "io.ts"))};
    console.log(await processIo().readInput().catch((error) => error.message));`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    stdin: new Uint8Array(bytes),
    stdout: "pipe",
    stderr: "inherit",
  });
  return await new Response(child.stdout).text();
}

test("the input is text, without the mark that some editors begin it with", async () => {
  expect(await inputOf([...Buffer.from("\uFEFFmoi €")])).toBe("moi €\n");
});

test("an input that is no text is refused, so that no other characters are stored in its place", async () => {
  expect(await inputOf([0x61, 0xff, 0x62])).toBe("The input is no text in UTF-8.\n");
});
