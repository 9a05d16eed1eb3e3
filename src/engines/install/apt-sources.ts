// Derives the package sources to use from the system's: the distribution's own archive, which gets security fixes.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.ts";

/** One entry of sources.list(5), of type `deb`. */
export interface AptSource {
  uris: string[];
  suites: string[];
  components: string[];
  /** The keyrings, or a key itself, exactly as in a deb822 file; undefined means all keys that the system trusts. */
  signedBy: string | undefined;
}

/** Debian's component, and Ubuntu's component with databases. */
const COMPONENTS = new Set(["main", "universe"]);

/** Reads all sources of the system. */
export async function readSystemSources(etcApt = "/etc/apt"): Promise<AptSource[]> {
  const parts = join(etcApt, "sources.list.d");
  const names = await orIfAbsent(readdir(parts), []);
  const files = [join(etcApt, "sources.list"), ...names.map((name) => join(parts, name))];
  const sources = files.map(async (file) => {
    if (file.endsWith(".sources")) return parseDeb822(await readFile(file, "utf8"));
    return file.endsWith(".list") ? parseOneLine(await orIfAbsent(readFile(file, "utf8"), "")) : [];
  });
  return (await Promise.all(sources)).flat();
}

/** Parses the one-line style: `deb [signed-by=FILE] URI SUITE COMPONENT...`. */
export function parseOneLine(text: string): AptSource[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)([^#]*)/.exec(line);
    if (match === null) return [];
    const [, options = "", uri = "", suite = "", components = ""] = match;
    const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1]?.replaceAll(",", " ");
    return [{ uris: [uri], suites: [suite], components: words(components), signedBy }];
  });
}

/** Parses the deb822 style: paragraphs of `Field: value`, where a line with a leading space continues the field. */
export function parseDeb822(text: string): AptSource[] {
  const withoutComments = text.replaceAll(/^#.*\n?/gm, "");
  return withoutComments.split(/\n\s*\n/).flatMap((paragraph) => {
    const fields = [...paragraph.matchAll(/^([A-Za-z-]+):[ \t]*(.*(?:\n[ \t].*)*)/gm)];
    const values = new Map(fields.map(([, name = "", value = ""]) => [name.toLowerCase(), value.trimEnd()]));
    const valuesOf = (name: string) => words(values.get(name) ?? "");
    if (!valuesOf("types").includes("deb") || /^(no|false|0|off)$/i.test(values.get("enabled") ?? ""))
      return [];
    return [
      {
        uris: valuesOf("uris"),
        suites: valuesOf("suites"),
        components: valuesOf("components"),
        signedBy: values.get("signed-by"),
      },
    ];
  });
}

/**
 * The distribution's own sources, without backports, which get no security support.
 * @param codename the release's name, such as `bookworm`.
 */
export function distributionSources(sources: AptSource[], codename: string): AptSource[] {
  return sources.flatMap((source) => {
    const components = source.components.filter((component) => COMPONENTS.has(component));
    const suites = source.suites.filter((suite) => isOfRelease(suite, codename));
    const uris = source.uris.filter((uri) => !uri.startsWith("cdrom:"));
    if (components.length === 0 || suites.length === 0 || uris.length === 0 || isForeign(source)) return [];
    return [{ ...source, uris, components, suites }];
  });
}

/**
 * The sources of another release of the same distribution.
 * @param sources the sources of the system's own release, `from`.
 * @param keyring the file with the keys that sign the other release.
 */
export function sourcesOfRelease(
  sources: AptSource[],
  { from, to, keyring }: { from: string; to: string; keyring: string },
): AptSource[] {
  return sources.map(({ suites, ...source }) => ({
    ...source,
    suites: suites.map((suite) => to + suite.slice(from.length)),
    signedBy: keyring,
  }));
}

/** Writes sources in the deb822 style. No option that turns off the check of signatures is taken over. */
export function renderSources(sources: AptSource[], architecture: string): string {
  const paragraphs = sources.map(({ uris, suites, components, signedBy }) =>
    [
      "Types: deb",
      `URIs: ${uris.join(" ")}`,
      `Suites: ${suites.join(" ")}`,
      `Components: ${components.join(" ")}`,
      `Architectures: ${architecture}`,
      "Targets: Packages",
      ...(signedBy === undefined ? [] : [`Signed-By: ${signedBy}`]),
    ].join("\n"),
  );
  return `${paragraphs.join("\n\n")}\n`;
}

function isOfRelease(suite: string, codename: string): boolean {
  return ["", "-updates", "-security"].some((pocket) => suite === codename + pocket);
}

/** Archives of third parties use the release's name too, but are signed with keys of their own. */
function isForeign({ signedBy }: AptSource): boolean {
  return signedBy !== undefined && !/(^|[/\s])(debian|ubuntu|raspbian)-archive-/.test(signedBy);
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

async function orIfAbsent<T>(reading: Promise<T>, fallback: T): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return fallback;
    throw error;
  }
}
