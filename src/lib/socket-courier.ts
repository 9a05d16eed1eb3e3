// Keeps another process in possession of sockets by their names: each that is put there or dropped is told, in order, without waiting.
import { MAX_DESCRIPTORS, passDescriptors, takeDescriptors, type Delivery } from "./descriptor-passing.ts";
import { sockets } from "./socket-calls.ts";

/** How soon it is tried again when the other side has not taken what was sent before. */
const RETRY_MS = 5;
/** A socket by its name, or, with null, that it is not to be kept any more. */
export type Parcel = [name: string, descriptor: number | null];
/** Says that everything kept so far has been sent: nothing has an empty name. */
export const KEPT_ALL: Parcel = ["", null];

export class SocketCourier {
  readonly #fd: number;
  readonly #onSent: () => void;
  #unsent: Parcel[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /**
   * @param fd a connected socket for passing, which is its own from then on.
   * @param onSent called when the other side may have something to take.
   */
  constructor(fd: number, onSent: () => void = () => {}) {
    this.#fd = fd;
    this.#onSent = onSent;
  }

  /** Whether nothing can come or go any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The other side is to have these as well. What is sent stays open here, and must until it is sent or dropped. */
  send(...parcels: Parcel[]): void {
    if (this.#isClosed || parcels.length === 0) return;
    this.#unsent.push(...parcels);
    this.#flush();
  }

  /** The other side is not to have it any more; from the return of this on it may be closed here. */
  drop(name: string): void {
    this.#unsent = this.#unsent.filter(([each]) => each !== name);
    this.send([name, null]);
  }

  /** What has come since; the descriptors are the caller's from then on. Closes this end when the other side has gone. */
  take(): Parcel[] {
    const parcels: Parcel[] = [];
    for (;;) {
      const delivery = this.#isClosed ? "nothing" : takeDescriptors(this.#fd);
      if (delivery === "ended") this.close();
      if (typeof delivery === "string") return parcels;
      parcels.push(...parcelsIn(delivery));
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#unsent = [];
    sockets.close(this.#fd);
  }

  #flush(): void {
    clearTimeout(this.#timer);
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
  // Whatever nobody has named is nobody's.
  for (const fd of left) sockets.close(fd);
  return parcels;
}
