// Notices that a certificate was renewed. Only the host keeps the right to read keys, so the host looks, and publishes
// the certificates for the gateway and the API.
import type { Config } from "../../config.ts";
import type { Certificate } from "../../engines/engine.ts";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Log } from "../../lib/line-log.ts";
import { signatureOf } from "../../lib/files.ts";
import { defaultPair, folderPairs, type PairFiles, readPair } from "./certificate.ts";
import { authorityPair, ensureGatewayCertificate, gatewayNames } from "./certificate-authority.ts";

/**
 * How often the files are looked at. A pair is taken when it stayed the same from one look to the next; a half-written
 * pair does not.
 */
const LOOK_INTERVAL_MS = 1_000;

const RENEWAL_INTERVAL_MS = 3_600_000;

/** The latest knowledge of a pair of files. */
interface Known {
  /** The signature of the files at the latest look. */
  signature: string;
  /** The signature of the files when they were read last, whole or not. */
  readSignature: string;
  certificate: NamedCertificate | null;
}

export class CertificateWatch {
  readonly #config: Config;
  readonly #log: Log;
  readonly #publish: (certificates: NamedCertificate[]) => void;
  readonly #known = new Map<string, Known>();
  #timers: ReturnType<typeof setInterval>[] = [];
  #published = "";
  #latestFault = "";

  /** @param publish gets all certificates that can be shown, the default first, whenever they have changed. */
  constructor(config: Config, log: Log, publish: (certificates: NamedCertificate[]) => void) {
    this.#config = config;
    this.#log = log;
    this.#publish = publish;
  }

  start(): void {
    this.look();
    this.#timers = [
      setInterval(() => this.look(), LOOK_INTERVAL_MS),
      setInterval(() => void this.#renew(), RENEWAL_INTERVAL_MS),
    ];
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** The default certificate of the settings, as it was read last; null when the settings name no certificate. */
  get configured(): Certificate | null {
    return this.#takenOf(defaultPair(this.#config));
  }

  /** That of the settings, or else the certificate of Pilvi's own authority; null before either exists. */
  get shown(): Certificate | null {
    return this.#takenOf(defaultPair(this.#config) ?? ownPair(this.#config));
  }

  #takenOf(pair: PairFiles | null): Certificate | null {
    const taken = pair === null ? null : this.#known.get(pair.certFile)?.certificate;
    // The contracts with engines have no names of certificates.
    return taken === null || taken === undefined ? null : { cert: taken.cert, key: taken.key };
  }

  /** Looks at the files once. A file that cannot be read changes nothing. */
  look(): void {
    try {
      const first = defaultPair(this.#config) ?? ownPair(this.#config);
      // The first start of the gateway has not made its certificate yet.
      if (first === null) return;
      const pairs = [first, ...folderPairs(this.#config)];
      const [shown, ...others] = pairs.map((pair) => this.#take(pair));
      this.#forgetOthers(pairs);
      if (shown !== null && shown !== undefined)
        this.#publishChanged([shown, ...others.filter((each) => each !== null)]);
      this.#latestFault = "";
    } catch (error) {
      this.#complain(messageOf(error));
    }
  }

  /** Replaces a certificate of Pilvi's own authority long before its end. */
  async #renew(): Promise<void> {
    const { dataDir } = this.#config;
    if (defaultPair(this.#config) !== null || ownPair(this.#config) === null) return;
    try {
      const names = gatewayNames(this.#config);
      await ensureGatewayCertificate({ dataDir, names, now: new Date() }, this.#log);
    } catch (error) {
      this.#complain(messageOf(error));
    }
  }

  #take(pair: PairFiles): NamedCertificate | null {
    const signature = `${signatureOf(pair.certFile)}, ${signatureOf(pair.keyFile)}`;
    const known = this.#known.get(pair.certFile);
    const former = known?.certificate ?? null;
    const isSettled = known === undefined || known.signature === signature;
    const isNew = known?.readSignature !== signature;
    const next = { signature, readSignature: known?.readSignature ?? "", certificate: former };
    this.#known.set(pair.certFile, next);
    if (!isSettled || !isNew) return former;
    next.readSignature = signature;
    try {
      next.certificate = readPair(pair);
    } catch (error) {
      this.#log.error(
        { error, certificate: pair.certFile },
        "a certificate cannot be shown, and the former one is kept",
      );
    }
    return next.certificate;
  }

  #forgetOthers(pairs: PairFiles[]): void {
    const present = new Set(pairs.map(({ certFile }) => certFile));
    for (const certFile of this.#known.keys()) if (!present.has(certFile)) this.#known.delete(certFile);
  }

  #publishChanged(certificates: NamedCertificate[]): void {
    const text = JSON.stringify(certificates);
    if (text === this.#published) return;
    this.#publish(certificates);
    this.#published = text;
    this.#log.info(
      { names: certificates.map(({ names }) => names) },
      "the certificates that are shown are taken",
    );
  }

  #complain(fault: string): void {
    if (fault !== this.#latestFault)
      this.#log.error({ fault }, "the certificates cannot be looked at, and the former ones are kept");
    this.#latestFault = fault;
  }
}

/** The certificate of Pilvi's own authority, null before it exists. */
function ownPair({ dataDir }: Config): PairFiles | null {
  const pair = authorityPair(dataDir);
  return signatureOf(pair.certFile) === "" ? null : pair;
}
