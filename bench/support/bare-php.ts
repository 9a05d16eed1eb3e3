// nginx and php-fpm without Pilvi and without a sandbox, as the baseline of a PHP application that wakes.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import {
  FPM_FILE,
  fpmConfig,
  phpScript,
  phpSiteConfig,
  SITE_FILE,
} from "../../src/engines/application/php-site.ts";
import { TYPES, TYPES_FILE } from "../../src/engines/application/site.ts";
import { RUNTIME_PLACE } from "../../src/engines/runtimes/folder.ts";
import { ensurePhp, phpOfSystem } from "../../src/engines/runtimes/php.ts";
import { findTool, type Tool } from "../../src/engines/tools/tools.ts";

/** A front controller that answers as the other programs do. */
export const PHP_FILES = { "public/index.php": "<?php echo 'hello';" };

/** A user without rights: php-fpm refuses to run as root. */
const NOBODY = 65_534;

/** What `begin` needs, prepared once, so that a start measures the two programs alone. */
export class BarePhp {
  readonly #conf: string;
  readonly #nginx: Tool;

  private constructor(conf: string, nginx: Tool) {
    this.#conf = conf;
    this.#nginx = nginx;
  }

  static async prepare(): Promise<BarePhp> {
    const { enginesDir } = loadConfig(process.env);
    const home = await ensurePhp(phpOfSystem() ?? "", enginesDir);
    const nginx = findTool("nginx", enginesDir);
    if (nginx === null) throw new Error("there is no nginx; run: pilvi engines install");
    const conf = mkdtempSync(join(tmpdir(), "pilvi-bare-php-"));
    chmodSync(conf, 0o777);
    mkdirSync(join(conf, "tmp"));
    chmodSync(join(conf, "tmp"), 0o777);
    mkdirSync(join(conf, "bin"));
    // The programs of the runtime know the place of a sandbox; these know their own.
    const here = (text: string) =>
      text.replaceAll(`${RUNTIME_PLACE}/etc`, conf).replaceAll(RUNTIME_PLACE, home);
    writeFileSync(join(conf, "php.ini"), here(readFileSync(join(home, "etc/php.ini"), "utf8")));
    const program = here(readFileSync(join(home, "bin/php-fpm"), "utf8"));
    writeFileSync(join(conf, "bin/php-fpm"), program, { mode: 0o755 });
    writeFileSync(join(conf, TYPES_FILE), TYPES);
    return new BarePhp(conf, nginx);
  }

  begin(port: number, folder: string): Bun.Subprocess {
    const site = {
      root: join(folder, "public"),
      isWhole: false,
      writable: [],
      address: "127.0.0.1",
      port,
      types: join(this.#conf, TYPES_FILE),
      memoryBytes: 512 * 1024 ** 2,
      shutdownSeconds: 5,
    };
    // A sandbox has a folder for temporary files of its own.
    const here = (text: string) => text.replaceAll(/(?<=[\s:"])\/tmp\//g, `${this.#conf}/tmp/`);
    const config = here(phpSiteConfig({ ...site, root: "ROOT", types: "TYPES" }));
    writeFileSync(
      join(this.#conf, SITE_FILE),
      config.replace("ROOT", site.root).replace("TYPES", site.types),
    );
    writeFileSync(join(this.#conf, FPM_FILE), here(fpmConfig(site)));
    const script = phpScript("CONF", this.#nginx, "");
    return Bun.spawn(["/bin/sh", "-c", here(script).replaceAll("CONF", this.#conf)], {
      cwd: folder,
      env: { PATH: `${join(this.#conf, "bin")}:/usr/bin:/bin` },
      stdio: ["ignore", "ignore", "ignore"],
      ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
    });
  }

  remove(): void {
    rmSync(this.#conf, { recursive: true, force: true });
  }
}
