// The addresses of operations: their paths below the API root, with the variable parts filled in.

/** The common root of the paths of all operations. */
export const API_ROOT = "/api";

/**
 * The path of a URL.
 * @param path as an operation has it, such as `/caches/:id`.
 */
export function addressOf(path: string, params: Record<string, string>): string {
  return API_ROOT + path.replace(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ""));
}
