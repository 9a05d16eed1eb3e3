// The selection of an application protocol in a handshake (ALPN, RFC 7301).
import { FFIType, JSCallback, read, toArrayBuffer } from "bun:ffi";
import type { Address } from "./openssl.ts";

const SSL_TLSEXT_ERR_OK = 0;
/** Ends the handshake with the alert `no_application_protocol`. */
const SSL_TLSEXT_ERR_ALERT_FATAL = 2;

const { i32, u32, ptr: pointer } = FFIType;

/** OpenSSL keeps the addresses of the callbacks, so the map keeps them from being collected. */
const selectors = new Map<string, JSCallback>();

/**
 * The address of a function for `SSL_CTX_set_alpn_select_cb` that selects the first protocol that the client has too.
 *
 * OpenSSL calls it on the handshake's thread, before that call returns, and only if the client names protocols.
 */
export function alpnSelector(protocols: readonly string[]): Address {
  const key = protocols.join("\n");
  const known = selectors.get(key) ?? newSelector(protocols);
  selectors.set(key, known);
  if (known.ptr === null) throw new Error("the selector of application protocols is closed");
  return known.ptr;
}

function newSelector(protocols: readonly string[]): JSCallback {
  return new JSCallback(
    (_ssl: Address, out: Address, outLength: Address, offered: Address, length: number) => {
      const found = firstCommon(protocols, offersIn(offered, length));
      if (found === undefined) return SSL_TLSEXT_ERR_ALERT_FATAL;
      // The selected name may point into the client's list.
      new BigUint64Array(toArrayBuffer(out, 0, 8))[0] = BigInt(offered) + BigInt(found.offset);
      new Uint8Array(toArrayBuffer(outLength, 0, 1))[0] = found.name.length;
      return SSL_TLSEXT_ERR_OK;
    },
    { args: [pointer, pointer, pointer, pointer, u32, pointer], returns: i32 },
  );
}

interface Offer {
  name: string;
  offset: number;
}

/** A byte with its length precedes each name; OpenSSL has checked that the names fill the list. */
function offersIn(list: Address, length: number): Offer[] {
  const offers: Offer[] = [];
  for (let offset = 0; offset < length;) {
    const nameLength = read.u8(list, offset);
    const start = offset + 1;
    offset = start + nameLength;
    const codes = Array.from({ length: nameLength }, (_, index) => read.u8(list, start + index));
    offers.push({ name: String.fromCharCode(...codes), offset: start });
  }
  return offers;
}

function firstCommon(protocols: readonly string[], offers: Offer[]): Offer | undefined {
  for (const protocol of protocols) {
    const offer = offers.find(({ name }) => name === protocol);
    if (offer !== undefined) return offer;
  }
  return undefined;
}
