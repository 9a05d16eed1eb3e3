// Paths of HAProxy's files, from the data folder that it runs in, since the path of a socket must be short.

/** The folder of the configuration. */
const CONF = "../conf";

/** The path of a file of the configuration folder, as HAProxy knows it. */
export function confPath(name: string): string {
  return `${CONF}/${name}`;
}

/** The folder of sockets. */
export const RUN = "../run";
