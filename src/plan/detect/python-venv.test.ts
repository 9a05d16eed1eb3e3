// Which requirements are the same packages each time, and what a kept virtual environment is found by.
import { expect, test } from "bun:test";
import { Folder } from "../folder.ts";
import { SOURCE_BOUNDS } from "../source-files.ts";
import { sourceOf } from "../test-source.ts";
import { isPinned, withVenv } from "./python-venv.ts";

async function commandsWith(files: Record<string, string>, links: string[] = []): Promise<string[]> {
  return withVenv(await Folder.open(sourceOf(files, links), ""), "3.11.2", ["install"]);
}

test.each(["uv.lock", "poetry.lock", "Pipfile.lock"])(
  "each %s has packages of its own, however large it is",
  async (lock) => {
    const large = "#".repeat(SOURCE_BOUNDS.lock + 1);
    const kept = [];
    for (const text of ["flask 3.0.3", "flask 3.1.0", `${large}a`, `${large}b`]) {
      const [place = "", ...rest] = await commandsWith({ [lock]: text });
      // The packages are kept, so they are installed before.
      expect(rest.indexOf("install")).toBe(1);
      expect(await commandsWith({ [lock]: text })).toEqual([place, ...rest]);
      kept.push(place);
    }
    expect(new Set(kept).size).toBe(kept.length);
  },
);

test("a lock file that is a link keeps no packages", async () => {
  const commands = await commandsWith({}, ["uv.lock"]);
  expect(commands.at(-1)).toBe("install");
});

test.each([
  "Flask==3.0.3\ngunicorn==23.0.0\n",
  "--index-url https://pypi.example.com/simple\nuvicorn[standard] == 0.30.1 ; python_version >= '3.9' # why\n",
  "idna==3.7 \\\n    --hash=sha256:82fee1fc78add492f4a5 \\\n    --hash=sha256:028ff3aadf0609c1fd27\n",
  "Flask==3.0.3 # why\r\ngunicorn==23.0.0\r\n",
])("%j are", (text) => expect(isPinned(text)).toBe(true));

test.each([
  "",
  "# nothing\n",
  "Flask\n",
  "Flask>=3\ngunicorn==23.0.0\n",
  "Flask==3.*\n",
  "-r other.txt\nFlask==3.0.3\n",
  "-e .\n",
  "shop @ git+https://git.example.com/shop.git@main\n",
  "git+https://git.example.com/shop.git\n",
  "./vendor/shop\n",
  "Flask==3.0.3,<4\n",
])("%j are not", (text) => expect(isPinned(text)).toBe(false));
