// A target: the place that keeps sealed objects, such as a folder or a bucket.
import type { StoredObject } from "../object-store.ts";

/** Where sealed objects are kept by name. */
export interface Target {
  /** What people know it by: a path or an `s3://` address. */
  readonly name: string;
  /** Whether a write takes so long that other targets must not wait for it. */
  readonly isRemote: boolean;
  /** Stores an object as a whole, in place of a former one; it outlives a power cut once this returns. */
  write(name: string, sealed: Uint8Array): Promise<void>;
  /** @throws MissingObject. */
  read(name: string): Promise<Uint8Array>;
  /** All objects whose name begins with the prefix, in the order of their names. */
  list(prefix: string): Promise<StoredObject[]>;
  /** An object that is not there is no error. */
  delete(name: string): Promise<void>;
  /** Whether it keeps an object of a folder back, for a target that does so. */
  waits?(folder: string): boolean;
  /** Gives up an object that it keeps back; what is stored of that name stays. */
  drop?(name: string): void;
  /** Deletes what a killed keeper left half written; nothing else uses the target meanwhile. */
  clear?(): Promise<void>;
  /**
   * Stores what it was given and keeps back, for a target that does so.
   * @param settled resolves when no earlier write of an object with the prefix is under way; throws when one failed.
   */
  flush?(settled: (prefix: string) => Promise<void>): Promise<void>;
}

/** A target cannot be used now; the message may be shown to the operator, the cause is for the log. */
export class TargetError extends Error {
  override name = "TargetError";

  constructor(target: string, fault: string, cause?: unknown) {
    super(`The backup target ${target} ${fault}.`, cause === undefined ? undefined : { cause });
  }
}

/** Names that cannot lead out of a folder. */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;
const MAX_NAME_LENGTH = 512;

/** @throws when a name could lead out of the target. */
export function checkName(name: string): void {
  if (name.length > MAX_NAME_LENGTH || !SAFE_NAME.test(name))
    throw new Error(`not a name of an object: ${name}`);
}
