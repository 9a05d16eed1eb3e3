// Keeps sockets by name in another process too: it sends each socket that is added and each name that is dropped, in
// order, without waiting.
import { MAX_DESCRIPTORS, passDescriptors, takeDescriptors, type Delivery } from "./descriptor-passing.ts";
import { sockets } from "./socket-calls.ts";

/** How soon a message is tried again when the other side has not taken the earlier messages. */
const RETRY_MS = 5;
/** A socket by its name; with null, the other side must no longer keep the name. */
export type Parcel = [name: string, descriptor: number | null];
/** Says that everything kept so far has been sent: no socket has an empty name. */
export const KEPT_ALL: Parcel = ["", null];

/** The first messages of both sides. */
export interface Greeting {
  /** The first message of this side. */
  text: string;
  /** Checks the first message of the other side. @throws Error when the other side is not understood. */
  check(text: string): void;
}

export class SocketCourier {
  readonly #fd: number;
  readonly #greeting: Greeting;
  readonly #onSent: () => void;
  #unsent: Parcel[] = [];
  /** How many unsent parcels each name has, so that a drop need not search among those of thousands. */
  readonly #unsentOf = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isGreeted = false;
  #isClosed = false;

  /**
   * @param fd a connected socket for passing, which has nothing under way and which the courier owns from then on.
   * @param onSent called when the other side may have something to take.
   */
  constructor(fd: number, greeting: Greeting, onSent: () => void = () => {}) {
    this.#fd = fd;
    this.#greeting = greeting;
    this.#onSent = onSent;
    // A new connection has room for it. When the other side has gone, `take` says so after all that it has sent.
    passDescriptors(fd, { text: greeting.text, descriptors: [] });
  }

  /** Whether nothing can come or go any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the other side has greeted, and is understood. */
  get isGreeted(): boolean {
    return this.#isGreeted;
  }

  /** Sends sockets to the other side. They stay open here, and must until they are sent or dropped. */
  send(...parcels: Parcel[]): void {
    if (this.#isClosed || parcels.length === 0) return;
    for (const parcel of parcels) this.#queue(parcel);
    // A full connection is tried again by the timer, and not for each of thousands of parcels.
    if (this.#timer === undefined) this.#flush();
  }

  /** Makes the other side drop a socket; from the return on it may be closed here. */
  drop(name: string): void {
    if (this.#unsentOf.delete(name)) this.#unsent = this.#unsent.filter(([each]) => each !== name);
    this.send([name, null]);
  }

  /**
   * Takes what has arrived; the descriptors are the caller's from then on. Closes this end when the other side has
   * gone.
   * @throws Error of the greeting's check, once; this end is closed then.
   */
  take(): Parcel[] {
    const parcels: Parcel[] = [];
    for (;;) {
      const delivery = this.#isClosed ? "nothing" : takeDescriptors(this.#fd);
      if (delivery === "ended") this.close();
      if (typeof delivery === "string") return parcels;
      if (this.#isGreeted) parcels.push(...parcelsIn(delivery));
      else this.#greeted(delivery);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#unsent = [];
    this.#unsentOf.clear();
    sockets.close(this.#fd);
  }

  #greeted({ text, descriptors }: Delivery): void {
    for (const fd of descriptors) sockets.close(fd);
    try {
      this.#greeting.check(text);
      this.#isGreeted = true;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #queue(parcel: Parcel): void {
    const [name] = parcel;
    this.#unsent.push(parcel);
    this.#unsentOf.set(name, (this.#unsentOf.get(name) ?? 0) + 1);
  }

  #sent(name: string): void {
    const left = (this.#unsentOf.get(name) ?? 0) - 1;
    if (left > 0) this.#unsentOf.set(name, left);
    else this.#unsentOf.delete(name);
  }

  #flush(): void {
    this.#timer = undefined;
    if (this.#unsent.length === 0) return;
    this.#sendBatches();
    this.#onSent();
  }

  #sendBatches(): void {
    for (;;) {
      const batch = this.#unsent.slice(0, MAX_DESCRIPTORS);
      if (batch.length === 0) break;
      const result = passDescriptors(this.#fd, deliveryOf(batch));
      if (result === "broken") return this.close();
      if (result === "full") {
        this.#timer = setTimeout(() => this.#flush(), RETRY_MS);
        break;
      }
      this.#unsent.splice(0, batch.length);
      for (const [name] of batch) this.#sent(name);
    }
  }
}

/** `+name` comes with a descriptor, `-name` without. */
export function deliveryOf(parcels: Parcel[]): Delivery {
  const text = parcels.map(([name, fd]) => `${fd === null ? "-" : "+"}${name}`).join("\n");
  return { text, descriptors: parcels.flatMap(([, fd]) => (fd === null ? [] : [fd])) };
}

export function parcelsIn({ text, descriptors }: Delivery): Parcel[] {
  const left = [...descriptors];
  const parcels = text.split("\n").flatMap((line): Parcel[] => {
    if (line.startsWith("-")) return [[line.slice(1), null]];
    const fd = left.shift();
    return fd === undefined ? [] : [[line.slice(1), fd]];
  });
  // A descriptor without a name belongs to nobody.
  for (const fd of left) sockets.close(fd);
  return parcels;
}
