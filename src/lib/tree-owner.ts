// Gives trees of files that customers have made to another user. They may be deep, or have many files.

/**
 * Gives everything in a folder to a user, in programs of its own, so that other work goes on. A link itself is given,
 * never its target. The folder stays with its owner, which shows the next host that a kill has cut this off.
 * @throws when something in it could not be given.
 */
export async function giveContents(
  folder: string,
  { uid, gid }: { uid: number; gid: number },
): Promise<void> {
  const give = ["/usr/bin/chown", "--recursive", "--no-dereference", "--", `${uid}:${gid}`, "{}", "+"];
  const argv = ["/usr/bin/find", folder, "-mindepth", "1", "-maxdepth", "1", "-exec", ...give];
  const child = Bun.spawn(argv, { env: {}, stdio: ["ignore", "ignore", "ignore"] });
  if ((await child.exited) !== 0) throw new Error(`not all of ${folder} could be given to its user`);
}
