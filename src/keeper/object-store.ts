// What the keeper's parts store in: objects by name, such as `archives/ID/log/SEGMENT`, whole or not at all.

/** An object as a listing shows it. */
export interface StoredObject {
  name: string;
  /** The bytes that it takes at the target: compressed and encrypted. */
  storedBytes: number;
}

/** Objects by name. A name is a path of safe parts; the bytes are plaintext. */
export interface ObjectStore {
  /**
   * Stores an object as a whole, in place of a former one of that name. At one target at least it outlives a power cut once
   * this returns; the others may get it later.
   * @param isBrief whether another object replaces it soon, so that its size matters less than the time it takes.
   */
  put(name: string, bytes: Uint8Array, isBrief?: boolean): Promise<void>;
  /** @throws MissingObject, DamagedObject, WrongKey. */
  get(name: string): Promise<Uint8Array>;
  /** All objects whose name begins with the prefix, in the order of their names. */
  list(prefix: string): Promise<StoredObject[]>;
  /** An object that is not there is no error. */
  delete(name: string): Promise<void>;
}

/** There is no object of that name. */
export class MissingObject extends Error {
  override name = "MissingObject";

  readonly object: string;

  constructor(object: string) {
    super(`the object ${object} is missing`);
    this.object = object;
  }
}

/** An object is not what was stored under its name. */
export class DamagedObject extends Error {
  override name = "DamagedObject";

  readonly object: string;

  /** @param fault what is wrong with it, such as `its end is missing`. */
  constructor(object: string, fault: string) {
    super(`the object ${object} is damaged: ${fault}`);
    this.object = object;
  }
}

/** An object was sealed with another key than that of the key file. */
export class WrongKey extends Error {
  override name = "WrongKey";

  readonly object: string;

  constructor(object: string) {
    super(`the object ${object} was sealed with another key than that of the key file`);
    this.object = object;
  }
}
