// Solves the challenge of the edge, as a browser does.

/** The cookie of a client that has solved the challenge of a page. */
export function passOf(challengePage: string): string {
  const [, seed = ""] = /SEED="([0-9a-f]{64})"/.exec(challengePage) ?? [];
  if (seed === "") throw new Error(`This is no challenge: ${challengePage.slice(0, 200)}`);
  let nonce = 0;
  const hash = () => new Bun.CryptoHasher("sha256").update(`${seed}/${nonce}`).digest("hex");
  while (!hash().startsWith("0000")) nonce += 1;
  return `pilvi_pass=${nonce}`;
}
