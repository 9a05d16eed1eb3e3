// A certificate that is its own authority, for a Pilvi under test.
import { join } from "node:path";
import { runCommand } from "../pilvi/program.ts";

export interface CertificateFiles {
  cert: string;
  key: string;
}

/** Makes the files in a folder. @param hostname a further name beside `localhost`. */
export async function makeCertificate(folder: string, hostname = "localhost"): Promise<CertificateFiles> {
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const names = `subjectAltName=DNS:localhost,DNS:${hostname},IP:127.0.0.1`;
  const request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", `/CN=${hostname}`];
  const made = await runCommand([...request, "-addext", names, "-out", files.cert, "-keyout", files.key]);
  if (made.code !== 0) throw new Error(made.stderr);
  return files;
}
