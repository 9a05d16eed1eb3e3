// Certificates of a certificate authority of our own (RFC 5280). Loaded only when a certificate has to be made.
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate as SignedCertificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import type { Certificate } from "../../engines/engine.ts";

const ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";
const COMMON_NAME = "2.5.4.3";
const SERIAL_BYTES = 16;
/** As many bytes of a SHA-256 name a key (RFC 7093). */
const KEY_ID_BYTES = 20;

/** The first and the last moment at which a certificate is valid. */
export interface Period {
  from: Date;
  until: Date;
}

/** A new authority, which signs itself. Its name has a random part, so that no two authorities share a name. */
export function makeAuthority(period: Period): Certificate {
  const keys = newKeys();
  const name = nameOf(`Pilvi CA ${randomBytes(4).toString("hex")}`);
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign), true),
  ];
  return signed({ keys, issuer: name, subject: name, issuerKey: keys, period, extensions });
}

/** A new certificate for a server with these names and addresses. */
export function makeServerCertificate(authority: Certificate, names: string[], period: Period): Certificate {
  const { raw, publicKey } = new X509Certificate(authority.cert);
  const issuer = AsnConvert.parse(bytesOf(raw), SignedCertificate).tbsCertificate.subject;
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
    extension(id_ce_subjectAltName, new SubjectAlternativeName(names.map(generalName))),
  ];
  const issuerKey = { publicKey, privateKey: authority.key };
  return signed({ keys: newKeys(), issuer, subject: nameOf("Pilvi"), issuerKey, period, extensions });
}

interface Content {
  keys: { publicKey: KeyObject; privateKey: KeyObject };
  subject: Name;
  issuer: Name;
  issuerKey: { publicKey: KeyObject; privateKey: KeyObject | string };
  period: Period;
  extensions: Extension[];
}

function signed({ keys, subject, issuer, issuerKey, period, extensions }: Content): Certificate {
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const keyIds = [
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(keys.publicKey))),
    extension(
      id_ce_authorityKeyIdentifier,
      new AuthorityKeyIdentifier({ keyIdentifier: new SubjectKeyIdentifier(keyId(issuerKey.publicKey)) }),
    ),
  ];
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: newSerial(),
    signature: algorithm,
    issuer,
    subject,
    validity: new Validity({ notBefore: period.from, notAfter: period.until }),
    subjectPublicKeyInfo: publicKeyInfo(keys.publicKey),
    extensions: new Extensions([...extensions, ...keyIds]),
  });
  const signature = sign(
    "sha256",
    new Uint8Array(AsnConvert.serialize(tbsCertificate)),
    issuerKey.privateKey,
  );
  const certificate = new SignedCertificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: bytesOf(signature),
  });
  return {
    cert: new X509Certificate(Buffer.from(AsnConvert.serialize(certificate))).toString(),
    key: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function newKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** Random, and positive as RFC 5280 demands. */
function newSerial(): ArrayBuffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = 1;
  return bytesOf(bytes);
}

function nameOf(text: string): Name {
  const value = new AttributeValue({ utf8String: text });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

function generalName(name: string): GeneralName {
  return new GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name });
}

function extension(id: string, value: unknown, critical = false): Extension {
  return new Extension({ extnID: id, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function publicKeyInfo(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(bytesOf(key.export({ type: "spki", format: "der" })), SubjectPublicKeyInfo);
}

function keyId(key: KeyObject): ArrayBuffer {
  const bits = new Uint8Array(publicKeyInfo(key).subjectPublicKey);
  return bytesOf(createHash("sha256").update(bits).digest().subarray(0, KEY_ID_BYTES));
}

/** Exactly these bytes: a Buffer may be a part of something larger. */
function bytesOf(buffer: Uint8Array): ArrayBuffer {
  return new Uint8Array(buffer).buffer;
}
