// Parses sources as Debian, Ubuntu, containers and third parties write them.
import { expect, test } from "bun:test";
import {
  distributionSources,
  parseDeb822,
  parseOneLine,
  renderSources,
  sourcesOfRelease,
} from "./apt-sources.ts";

const DEBIAN_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg";

test("sources in the one-line style are read with options, comments and disabled lines", () => {
  const text = `
# deb http://a.example/debian bookworm main
deb http://a.example/debian bookworm main contrib # the archive
deb-src http://a.example/debian bookworm main
deb [arch=amd64 signed-by=/k/a.gpg,/k/b.gpg trusted=yes] https://b.example/debian bookworm-security main
`;
  expect(parseOneLine(text)).toEqual([
    {
      uris: ["http://a.example/debian"],
      suites: ["bookworm"],
      components: ["main", "contrib"],
      signedBy: undefined,
    },
    {
      uris: ["https://b.example/debian"],
      suites: ["bookworm-security"],
      components: ["main"],
      signedBy: "/k/a.gpg /k/b.gpg",
    },
  ]);
});

test("sources in the deb822 style are read with comments, continued fields and disabled paragraphs", () => {
  const text = `Types: deb deb-src
# http://snapshot.example/
URIs: http://a.example/debian
Suites: bookworm
 bookworm-updates
components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb
Enabled: no
URIs: http://b.example/
Suites: x
Components: main

Types: deb-src
URIs: http://c.example/
Suites: x
Components: main
`;
  expect(parseDeb822(text)).toEqual([
    {
      uris: ["http://a.example/debian"],
      suites: ["bookworm", "bookworm-updates"],
      components: ["main"],
      signedBy: "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc",
    },
  ]);
});

test("the distribution's archive is kept, and third parties are not", () => {
  const sources = parseOneLine(`
deb [signed-by=${DEBIAN_KEYS}] http://a.example/debian bookworm main non-free
deb http://a.example/debian-security bookworm-security main
deb http://a.example/debian trixie main
deb [signed-by=/etc/apt/keyrings/docker.asc] https://d.example/linux/debian bookworm stable
deb [signed-by=/usr/share/keyrings/redis-archive-keyring.gpg] https://r.example/deb bookworm main
deb cdrom:[Debian] bookworm main
`);
  expect(distributionSources(sources, "bookworm")).toEqual([
    {
      uris: ["http://a.example/debian"],
      suites: ["bookworm"],
      components: ["main"],
      signedBy: DEBIAN_KEYS,
    },
    {
      uris: ["http://a.example/debian-security"],
      suites: ["bookworm-security"],
      components: ["main"],
      signedBy: undefined,
    },
  ]);
});

test("Ubuntu's universe is kept, and backports, which get no security support, are not", () => {
  const [source] = distributionSources(
    parseOneLine("deb http://a.example/ubuntu noble main restricted universe"),
    "noble",
  );
  expect(source?.components).toEqual(["main", "universe"]);
  const deb822 = parseDeb822(
    "Types: deb\nURIs: http://a.example/ubuntu\nSuites: noble noble-updates noble-backports\nComponents: main\n",
  );
  expect(distributionSources(deb822, "noble")[0]?.suites).toEqual(["noble", "noble-updates"]);
});

test("the sources of another release use the same archive and the given keyring", () => {
  const sources = distributionSources(
    parseOneLine(`
deb [signed-by=${DEBIAN_KEYS}] http://a.example/debian bookworm bookworm-updates main
deb [signed-by=${DEBIAN_KEYS}] http://a.example/debian bookworm-updates main
deb http://a.example/debian-security bookworm-security main
`),
    "bookworm",
  );
  const keyring = "/engines/.keyring.tmp/keys.gpg";
  expect(sourcesOfRelease(sources, { from: "bookworm", to: "trixie", keyring })).toEqual([
    { uris: ["http://a.example/debian"], suites: ["trixie"], components: ["main"], signedBy: keyring },
    {
      uris: ["http://a.example/debian"],
      suites: ["trixie-updates"],
      components: ["main"],
      signedBy: keyring,
    },
    {
      uris: ["http://a.example/debian-security"],
      suites: ["trixie-security"],
      components: ["main"],
      signedBy: keyring,
    },
  ]);
});

test("written sources are read back as the same sources", () => {
  const sources = distributionSources(
    parseOneLine(`deb [trusted=yes signed-by=${DEBIAN_KEYS}] http://a.example/debian bookworm main`),
    "bookworm",
  );
  const text = renderSources(sources, "amd64");
  expect(parseDeb822(text)).toEqual(sources);
  expect(text.toLowerCase()).not.toContain("trusted");
});
