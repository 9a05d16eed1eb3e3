// The rules of the packet filter for customers' processes, as a script of nft. They keep no state of connections for the
// machine: a rule looks at the two packets that open a connection, so that nobody can fill a table of all connections.

/** A range of ports. */
export interface PortRange {
  first: number;
  last: number;
}

/** What the rules are made of. */
export interface Rules {
  /** The name of the table. */
  table: string;
  /** Ports of Pilvi, at which a user reaches and answers only what the grants name. */
  reserved: readonly PortRange[];
  /** The users whose connections to this machine are confined. */
  uids: readonly number[];
  /** The ports that a user may reach. */
  reached: readonly (readonly [uid: number, port: number])[];
  /** The ports at which a user may answer. */
  owned: readonly (readonly [uid: number, port: number])[];
  /** The ports that all of them may reach. */
  open: readonly number[];
}

/**
 * How many connections to ports of its own a user may open in a second. Together with the times below, this bounds what
 * one user has of the sets, which all users share: less than a hundredth.
 */
const OPENINGS_PER_SECOND = 500;

/** How many connections that are being opened, and how many refused answers, are remembered at most. */
const MAX_REMEMBERED = 262_144;

/** How long, and how many, users with such connections are remembered; after a second a user may open as many again. */
const [OPENER_SECONDS, MAX_OPENERS] = [10, 65_536];

/** How long a connection that is being opened is remembered: its answer comes at once, also on a busy machine. */
const OPENING_SECONDS = 2;

/** How long a refused answer is remembered. A client tries again after a second. */
const REFUSED_SECONDS = 3;

/** How often the kernel forgets what has had its time. */
const FORGET_SECONDS = 1;

const FAMILIES = [
  { name: "ip", suffix: "4" },
  { name: "ip6", suffix: "6" },
];

/**
 * Makes the table anew, with its elements, in one transaction. The edge connects to applications from this machine, so
 * no user answers a client from elsewhere, at whatever address its process listens.
 */
export function wholeScript(rules: Rules): string {
  const { table, reserved } = rules;
  const ports = reserved.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`));
  return `add table inet ${table}
delete table inet ${table}
table inet ${table} {
  set users { typeof meta skuid; }
  set reached { typeof meta skuid . tcp dport; }
  set owned { typeof meta skuid . tcp sport; }
  set open { type inet_service; }
  set opened { typeof meta skuid; flags dynamic, timeout; timeout ${OPENER_SECONDS}s; size ${MAX_OPENERS}; }
${FAMILIES.map(openingSets).join("\n")}
  chain output {
    type filter hook output priority filter; policy accept;
    tcp flags & (syn | ack) == syn | ack jump answer
    meta skuid @users jump confined
  }
  chain answer {
    fib daddr type != local meta skuid @users drop
    fib daddr type != local return
    meta skuid @users tcp sport { ${ports.join(", ")} } meta skuid . tcp sport != @owned drop
${FAMILIES.map(answerRules).join("\n")}
  }
  chain confined {
    meta l4proto { tcp, udp } th dport 53 return
    ip daddr 169.254.0.0/16 reject
    ip6 daddr fd00:ec2::254 reject
    fib daddr type != local return
    tcp sport { ${ports.join(", ")} } meta skuid . tcp sport != @owned meta skuid . tcp dport != @reached tcp dport != @open drop
    tcp flags & (syn | ack) == syn jump connect
    meta l4proto { tcp, icmp, ipv6-icmp } return
    reject
  }
  chain connect {
    meta skuid . tcp dport @reached return
    tcp dport @open return
    tcp dport { ${ports.join(", ")} } reject with tcp reset
    update @opened { meta skuid limit rate over ${OPENINGS_PER_SECOND}/second burst ${OPENINGS_PER_SECOND} packets } reject with tcp reset
${FAMILIES.map(connectRules).join("\n")}
    reject with tcp reset
  }
}
${elementsOf(rules)}`;
}

/** Brings a table that is there to the elements, whatever it has, in one transaction. */
export function elementsScript(rules: Rules): string {
  const flushes = ["users", "reached", "owned", "open"].map((set) => `flush set inet ${rules.table} ${set}`);
  return `${flushes.join("\n")}\n${elementsOf(rules)}`;
}

/**
 * Brings a table that has the elements of the former rules to those of others, in one transaction; empty where they are
 * the same. The kernel takes some 15 ms to be done with elements that go, and next to nothing for elements that come.
 */
export function changeScript(former: Rules, rules: Rules): string {
  const [before, after] = [setsOf(former), setsOf(rules)];
  return (
    commandsOf("delete", rules.table, differenceOf(before, after)) +
    commandsOf("add", rules.table, differenceOf(after, before))
  );
}

/** Removes the table, which may be absent. */
export function removalScript(table: string): string {
  return `add table inet ${table}\ndelete table inet ${table}\n`;
}

/**
 * The kernel does not say at a client's packet whose process listens. So a packet that opens a connection to a port
 * outside of the grants passes, and is noted with its user; the answer passes only when the same user sends it.
 */
function connectRules({ name, suffix }: (typeof FAMILIES)[number]): string {
  const answer = `${name} daddr . tcp dport . ${name} saddr . tcp sport`;
  return `    ${answer} @refused${suffix} reject with tcp reset
    update @opening${suffix} { ${answer} } update @opening_by${suffix} { ${answer} . meta skuid } return`;
}

/**
 * A refused answer is noted, so that the client's next attempt is refused at once, and refused whether or not there is
 * room for the note. The reset ends what the listener has of the connection, so that it does not answer again later.
 */
function answerRules({ name, suffix }: (typeof FAMILIES)[number]): string {
  const answer = `${name} saddr . tcp sport . ${name} daddr . tcp dport`;
  return `    ${answer} . meta skuid @opening_by${suffix} return
    ${answer} @opening${suffix} update @refused${suffix} { ${answer} }
    ${answer} @opening${suffix} reject with tcp reset`;
}

/** The properties of a set whose elements are forgotten after some seconds. */
function kept(seconds: number): string {
  return `flags dynamic, timeout; timeout ${seconds}s; gc-interval ${FORGET_SECONDS}s; size ${MAX_REMEMBERED};`;
}

function openingSets({ name, suffix }: (typeof FAMILIES)[number]): string {
  const answer = `${name} saddr . tcp sport . ${name} daddr . tcp dport`;
  return `  set opening${suffix} { typeof ${answer}; ${kept(OPENING_SECONDS)} }
  set opening_by${suffix} { typeof ${answer} . meta skuid; ${kept(OPENING_SECONDS)} }
  set refused${suffix} { typeof ${answer}; ${kept(REFUSED_SECONDS)} }`;
}

function elementsOf(rules: Rules): string {
  return commandsOf("add", rules.table, setsOf(rules));
}

/** The elements of each set, by its name. */
type Sets = Record<"users" | "reached" | "owned" | "open", ReadonlySet<string>>;

function setsOf({ uids, reached, owned, open }: Rules): Sets {
  const pairs = (list: Rules["reached"]) => new Set(list.map(([uid, port]) => `${uid} . ${port}`));
  return {
    users: new Set(uids.map(String)),
    reached: pairs(reached),
    owned: pairs(owned),
    open: new Set(open.map(String)),
  };
}

/** The elements of the sets that the others do not have. */
function differenceOf(sets: Sets, others: Sets): Sets {
  const of = (name: keyof Sets) => new Set([...sets[name]].filter((element) => !others[name].has(element)));
  return { users: of("users"), reached: of("reached"), owned: of("owned"), open: of("open") };
}

function commandsOf(verb: "add" | "delete", table: string, sets: Sets): string {
  return Object.entries(sets)
    .filter(([, elements]) => elements.size > 0)
    .map(([name, elements]) => `${verb} element inet ${table} ${name} { ${[...elements].join(", ")} }\n`)
    .join("");
}
