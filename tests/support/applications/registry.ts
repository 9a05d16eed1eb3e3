// A registry for npm and Bun on this machine, with packages of the checkout, since tests have no network.
import { createHash } from "node:crypto";
import { join } from "node:path";

/** A registry that serves packages of `node_modules`. */
export interface TestRegistry {
  url: string;
  close(): Promise<void>;
}

/** Serves these packages. */
export function startRegistry(names: readonly string[]): TestRegistry {
  const packages = new Map(names.map((name) => [name, packed(name)]));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname, origin } = new URL(request.url);
      const [, name = "", file] = pathname.split("/");
      const found = packages.get(name);
      if (found === undefined) return new Response("not found", { status: 404 });
      if (file !== undefined) return new Response(found.tarball);
      const { manifest, integrity } = found;
      const dist = { tarball: `${origin}/${name}/${name}.tgz`, integrity };
      const { version } = manifest;
      return Response.json({
        name,
        "dist-tags": { latest: version },
        versions: { [version]: { ...manifest, dist } },
      });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/`, close: () => server.stop(true) };
}

/** A package of `node_modules` as npm packs it. */
export function packed(name: string) {
  const modules = join(import.meta.dir, "../../../node_modules");
  const { stdout } = Bun.spawnSync([
    "tar",
    "--create",
    "--gzip",
    `--transform=s,^${name},package,`,
    `--directory=${modules}`,
    name,
  ]);
  const integrity = `sha512-${createHash("sha512").update(stdout).digest("base64")}`;
  const { version, dependencies = {} } = require(join(modules, name, "package.json"));
  return { tarball: new Uint8Array(stdout), integrity, manifest: { name, version, dependencies } };
}
