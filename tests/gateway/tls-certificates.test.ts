// The certificates that the gateway's TLS sessions present, and the channel bindings of clients.
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash, X509Certificate } from "node:crypto";
import { type Certificates, type Pair, TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { endPointHash } from "../../src/gateway/tls/end-point-hash.ts";
import { runProgram } from "../support/clients/programs.ts";
import { Loop } from "../support/gateway/loop.ts";
import { CertificateFolder, Connection, ECDSA_KEY } from "../support/wire/tls-sessions.ts";

const folder = new CertificateFolder();
let loop: Loop;

beforeEach(() => {
  loop = new Loop();
});
afterEach(() => {
  expect(loop.faults).toEqual([]);
  loop.close();
});
afterAll(() => folder.remove());

const BINDINGS: [string, string[], string][] = [
  ["SHA-256", ["-newkey", "rsa:2048", "-sha256"], "sha256"],
  ["SHA-384", ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384", "-sha384"], "sha384"],
  ["SHA-512", ["-newkey", "rsa:2048", "-sha512"], "sha512"],
  ["SHA-1", ["-newkey", "rsa:2048", "-sha1"], "sha256"],
  ["PSS and SHA-384", ["-newkey", "rsa:2048", "-sha384", "-sigopt", "rsa_padding_mode:pss"], "sha384"],
];

describe("the channel binding of a certificate", () => {
  test.each(BINDINGS)("signed with %s is the hash that a client computes", async (name, kind, hash) => {
    const connection = await connectionTo(await folder.newPair(name.replaceAll(" ", "-"), kind));
    const { raw } = connection.client.getPeerCertificate();
    const shown = createHash(hash).update(raw).digest("hex");
    expect(Buffer.from(connection.stream.tls?.endPointHash ?? []).toString("hex")).toBe(shown);
    connection.close();
  });

  test("signed with Ed25519 does not exist", async () => {
    const { cert } = await folder.newPair("ed25519", ["-newkey", "ed25519"]);
    expect(endPointHash(new X509Certificate(cert))).toHaveLength(0);
  });
});

test("the whole chain is presented, and the binding is to its first certificate", async () => {
  const [above, below] = [folder.file("above"), folder.file("below")];
  const request = ["openssl", "req", "-nodes", ...ECDSA_KEY];
  await runProgram([
    ...request,
    "-x509",
    "-subj",
    "/CN=above",
    "-keyout",
    `${above}.key`,
    "-out",
    `${above}.crt`,
  ]);
  await runProgram([...request, "-subj", "/CN=below", "-keyout", `${below}.key`, "-out", `${below}.csr`]);
  const issuer = ["-CA", `${above}.crt`, "-CAkey", `${above}.key`, "-CAcreateserial"];
  await runProgram(["openssl", "x509", "-req", "-in", `${below}.csr`, "-out", `${below}.crt`, ...issuer]);
  const cert = folder.read("below.crt") + folder.read("above.crt");
  const connection = await connectionTo({ cert, key: folder.read("below.key") });
  expect(connection.client.getPeerCertificate(true).issuerCertificate.subject.CN).toBe("above");
  const own = createHash("sha256").update(new X509Certificate(cert).raw).digest();
  expect(own.equals(connection.stream.tls?.endPointHash ?? Buffer.of())).toBe(true);
  connection.close();
});

describe("several certificates", () => {
  const SHOWN: [asked: string, shown: string][] = [
    ["db.example.com", "db.example.com"],
    ["cache.example.com", "*.example.com"],
    ["elsewhere.org", "localhost"],
    ["localhost", "localhost"],
    ["", "localhost"],
  ];

  test.each(SHOWN)(
    "a client that asks for %p gets the certificate for %s, and can bind to it",
    async (asked, shown) => {
      for (const alpn of [[], ["postgresql"]]) {
        const options = { ...(asked === "" ? {} : { servername: asked }), ALPNProtocols: alpn };
        const connection = await Connection.open(loop, new TlsCertificates(await several()), options);
        await connection.handshake(alpn);
        const { raw, subject } = connection.client.getPeerCertificate();
        expect(subject.CN).toBe(shown);
        const { tls } = connection.stream;
        expect(
          createHash("sha256")
            .update(raw)
            .digest()
            .equals(tls?.endPointHash ?? Buffer.of()),
        ).toBe(true);
        expect(tls?.alpn).toBe(alpn[0] ?? null);
        connection.close();
      }
    },
  );

  test("a replaced certificate is presented to new clients, and earlier clients go on", async () => {
    const certificates = new TlsCertificates(await several());
    const before = await Connection.open(loop, certificates);
    await before.handshake();
    certificates.replace(await folder.newPair("newer", ECDSA_KEY, "newer"));
    const after = await Connection.open(loop, certificates, { servername: "db.example.com" });
    await after.handshake();
    expect(after.client.getPeerCertificate().subject.CN).toBe("newer");
    for (const connection of [before, after]) {
      connection.client.write("hello");
      expect(await connection.read(5)).toBe("hello");
    }
    for (const connection of [before, after]) connection.close();
  });

  test("a key and certificate that do not match replace nothing", async () => {
    const certificates = new TlsCertificates(await several());
    const other = await folder.newPair("unfitting");
    const { cert } = await folder.newPair("newest", ECDSA_KEY, "newest");
    expect(() => certificates.replace({ cert, key: other.key })).toThrow("does not belong");
    const wrong = { names: ["a.b"], cert, key: other.key };
    expect(() => certificates.replace({ ...other, others: [wrong] })).toThrow("does not belong");
    const connection = await Connection.open(loop, certificates, { servername: "db.example.com" });
    await connection.handshake();
    expect(connection.client.getPeerCertificate().subject.CN).toBe("db.example.com");
    connection.close();
  });
});

/** A certificate for localhost, a wildcard certificate, and a certificate for a name that the wildcard covers too. */
async function several(): Promise<Certificates> {
  const named = async (file: string, host: string) => ({
    names: [host],
    ...(await folder.newPair(file, ECDSA_KEY, host)),
  });
  const others = [await named("wildcard", "*.example.com"), await named("exact", "db.example.com")];
  return { ...(await folder.newPair("first")), others };
}

test("a certificate that cannot be presented is refused with the reason", async () => {
  const [pair, other] = [await folder.newPair("pair"), await folder.newPair("other")];
  const faultOf = (change: Partial<Pair>) => expect(() => new TlsCertificates({ ...pair, ...change }));
  faultOf({ key: other.key }).toThrow("does not belong");
  faultOf({ cert: "nothing" }).toThrow("certificate cannot be read");
  faultOf({ key: "nothing" }).toThrow("key cannot be read");
  const sealed = ["-aes256", "-passout", "pass:secret", "-out", folder.file("sealed.key")];
  await runProgram(["openssl", "ec", "-in", folder.file("pair.key"), ...sealed]);
  faultOf({ key: folder.read("sealed.key") }).toThrow("key cannot be read");
});

/** After the handshake on both sides. */
async function connectionTo(pair: Pair): Promise<Connection> {
  return await (await Connection.open(loop, new TlsCertificates(pair))).handshake();
}
