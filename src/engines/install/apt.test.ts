// Reads the output of a simulated installation.
import { expect, test } from "bun:test";
import { parseSimulation } from "./apt.ts";

test("new packages, upgrades and foreign architectures are read from a simulation", () => {
  const output = `Reading package lists...
Inst libssl3 [3.0.15-1] (3.0.17-1~deb12u2 Debian:12.12/oldstable, Debian-Security:12/oldstable-security [amd64]) []
Inst mariadb-common (1:10.11.19-0+deb12u1 Debian-Security:12/oldstable-security [all])
Inst libc6:i386 (2.36-9 Debian:12/oldstable [i386])
Conf libssl3 (3.0.17-1~deb12u2 Debian:12.12/oldstable [amd64])
Remv mysql-server-core [8.0]
`;
  expect(parseSimulation(output)).toEqual([
    { name: "libssl3", version: "3.0.17-1~deb12u2", architecture: "amd64" },
    { name: "mariadb-common", version: "1:10.11.19-0+deb12u1", architecture: "all" },
    { name: "libc6", version: "2.36-9", architecture: "i386" },
  ]);
});
