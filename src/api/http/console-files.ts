// The files of the built web console, found in a folder that another process fills.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encodingFor } from "./encodings.ts";

/** The file in the console's folder that names the folder of the present build. */
export const CURRENT_FILE = "current";

/** Names that builds make; nothing else leads to a file. */
const BUILD = /^[0-9a-f]{16}$/;
const ASSET = /^[\w-]+-[\w]+\.(?<extension>js|css|svg|woff2)$/;

const CONTENT_TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** A file as an answer carries it. */
export interface ConsoleFile {
  body: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** The value of `Content-Encoding`; undefined for a file in clear. */
  encoding: string | undefined;
}

export class ConsoleFiles {
  readonly #folder: string;
  #build: string | undefined;

  /** @param folder filled by `pilvi up`, at the latest some seconds after the start. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The page of every address of the console; undefined while the console is being built. */
  async page(accepted: string): Promise<ConsoleFile | undefined> {
    return await this.#read("index.html", "text/html; charset=utf-8", accepted);
  }

  /** @param accepted the header `Accept-Encoding`. @returns undefined when there is no such file. */
  async asset(name: string, accepted: string): Promise<ConsoleFile | undefined> {
    const contentType = CONTENT_TYPES[ASSET.exec(name)?.groups?.extension ?? ""];
    if (contentType === undefined) return undefined;
    return await this.#read(join("assets", name), contentType, accepted);
  }

  async #read(path: string, contentType: string, accepted: string): Promise<ConsoleFile | undefined> {
    const build = this.#currentBuild();
    if (build === undefined) return undefined;
    const encoding = encodingFor(accepted);
    const file = Bun.file(join(this.#folder, build, path + (encoding?.ending ?? "")));
    if (!(await file.exists())) return undefined;
    return { body: await file.bytes(), contentType, encoding: encoding?.name };
  }

  /** A build stays for the life of this process, because another program has another process. */
  #currentBuild(): string | undefined {
    if (this.#build !== undefined) return this.#build;
    try {
      const name = readFileSync(join(this.#folder, CURRENT_FILE), "utf8").trim();
      if (BUILD.test(name)) this.#build = name;
    } catch {
      // The build is under way.
    }
    return this.#build;
  }
}
