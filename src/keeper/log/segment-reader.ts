// Reads segments of a log from its archive, and remembers which could not be read.
import type { BackupInfo } from "../../contracts/keeper.ts";
import type { Mutex } from "../../lib/mutex.ts";
import { DamagedObject, MissingObject } from "../object-store.ts";
import { binlogName, placeOf } from "./binlog-chain.ts";
import type { LogCatalog } from "./chain.ts";
import type { LogArchive } from "./log-archive.ts";
import { piecesEnd } from "./objects.ts";
import { PlanRefused } from "./plan.ts";

/** More segments than these are damaged together only. */
const MAX_UNREADABLE = 1_000;

interface SegmentReaderOptions {
  archive: LogArchive;
  /** Nothing is stored or deleted by others who hold it. */
  mutex: Mutex;
  catalogOf: (backups: BackupInfo[]) => LogCatalog | null;
}

export class SegmentReader {
  readonly #options: SegmentReaderOptions;
  /** Segments that could not be read. */
  readonly #unreadable = new Set<string>();

  constructor(options: SegmentReaderOptions) {
    this.#options = options;
  }

  /**
   * A segment of the segment's size, or a history.
   * @throws MissingObject, DamagedObject, WrongKey. The next plan that needs the segment is refused then, as long as it
   * cannot be read.
   */
  async read(name: string, backups: BackupInfo[]): Promise<Uint8Array> {
    await this.#options.archive.load();
    try {
      const bytes = await this.#readStored(name, backups);
      this.#unreadable.delete(name);
      return bytes;
    } catch (error) {
      const isFault = error instanceof MissingObject || error instanceof DamagedObject;
      if (isFault && this.#unreadable.size < MAX_UNREADABLE) this.#unreadable.add(name);
      throw error;
    }
  }

  /** @throws PlanRefused when a segment cannot be read; WrongKey. */
  async readPlanned(name: string, backups: BackupInfo[]): Promise<Uint8Array> {
    try {
      return await this.read(name, backups);
    } catch (error) {
      if (!(error instanceof MissingObject || error instanceof DamagedObject)) throw error;
      const log = this.#options.catalogOf(backups);
      const place = log?.format === "binlog" ? placeOf(name, log.segmentBytes) : null;
      const what = place === null ? `segment ${name} of the log` : `binary log ${binlogName(place.file)}`;
      throw new PlanRefused("damaged", `The ${what} is damaged or missing in the archive.`);
    }
  }

  /** Reads those of some segments again that could not be read. @throws PlanRefused when that fails again; WrongKey. */
  async readAgain(names: string[], backups: BackupInfo[]): Promise<void> {
    for (const name of names) if (this.#unreadable.has(name)) await this.readPlanned(name, backups);
  }

  async #readStored(name: string, backups: BackupInfo[]): Promise<Uint8Array> {
    const { archive, mutex, catalogOf } = this.#options;
    const { segmentBytes = 0, format } = catalogOf(backups) ?? {};
    if (archive.objects.segments.has(name)) return await archive.read(name, segmentBytes);
    // A pass may put its pieces together meanwhile.
    return await mutex.run(async () => {
      const isCut = format === "binlog";
      const bytes = isCut ? piecesEnd(archive.objects.pieces, name) : segmentBytes;
      return await archive.read(name, bytes);
    });
  }
}
