/**
 * Odd requests over HTTP beside ordinary calls, and a kill: changed bodies in every dialect, requests that are cut off
 * or hang, broken HTTP.
 */
import { connect } from "node:net";
import { callerKeys } from "../kit/fake-vendors";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { bodyOf, oddJson, oddText, pathOf } from "../kit/fuzz";
import { randomCall } from "../kit/trial/calls";
import { carryOut, killOf } from "../kit/trial/kill";
import type { Node } from "../kit/trial/nodes";
import type { Random } from "../kit/trial/random";
import type { Testbed } from "../kit/trial/testbed";
import type { Trial } from "../kit/trial/trial";

const AT_ONCE = 12;
const ODD = 300;
const ORDINARY = 60;
/** What an odd request that a vendor answered may cost. */
const MOST_UNITS = 1_000_000;
const LIMIT_MS = 20_000;
/** The model in the bodies of tests/kit/fuzz.ts. */
const MODEL = "m";

/** A vendor of its own: those of the testbed know their callers by the prompt. */
const vendors = new WeakMap<Testbed, Promise<unknown>>();
const withVendor = (bed: Testbed): Promise<unknown> => {
  const known = vendors.get(bed);
  if (known) return known;
  const upstream = startFakeUpstream();
  bed.atEnd(async () => upstream.close());
  const opened = bed.price([MODEL]).then(() => bed.nodes.weir.newChannel({ base_url: upstream.url, models: [MODEL] }));
  vendors.set(bed, opened);
  return opened;
};

interface Odd {
  node: number;
  token: number;
  pauseMs: number;
  /** The request as bytes, for an address and a key. */
  text(address: string, key: string): string;
  /** Sends so much of it, and then hangs up at once or waits. */
  cutAt: number;
  waits: boolean;
}

function oddRequest(random: Random): Odd {
  const caller = random.pick(callerKeys);
  const stream = random.chance(0.5);
  const valid = bodyOf(caller, stream, "hello");
  const json = JSON.stringify(random.chance(0.8) ? oddJson(random, valid) : valid) ?? "";
  const body = random.chance(0.3) ? oddText(random, json) : json;
  const lying = random.chance(0.1) ? random.whole(-5, 5) : 0;
  const head = random.chance(0.1)
    ? random.pick(["X-A: \u0000", "A", "Host: b", "Transfer-Encoding: chunked"])
    : "X-A: 1";
  return {
    node: random.whole(0, 5),
    token: random.whole(0, 5),
    pauseMs: random.whole(0, 60),
    text: (address, key) =>
      `POST ${pathOf(caller, stream)} HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer ${key}\r\n` +
      `X-Forwarded-For: ${address}\r\nContent-Type: application/json\r\n${head}\r\nConnection: close\r\n` +
      `Content-Length: ${Math.max(0, Buffer.byteLength(body) + lying)}\r\n\r\n${body}`,
    cutAt: random.chance(0.2) ? random.next() : 1,
    waits: random.chance(0.5),
  };
}

/** Sends it and reads until the end; returns the status line's number, 0 without one. */
function send(node: Node, bytes: Buffer, { cutAt, waits }: Odd): Promise<number> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(new URL(node.url).port), "127.0.0.1");
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1] ?? 0));
    };
    const timer = setTimeout(end, cutAt < 1 ? 300 : LIMIT_MS);
    socket.on("connect", () => {
      socket.write(bytes.subarray(0, Math.ceil(bytes.length * cutAt)));
      if (cutAt < 1 && !waits) end();
    });
    socket.on("data", (part: Buffer) => (answer += part.toString("latin1").slice(0, 20)));
    socket.on("close", end);
    socket.on("error", end);
  });
}

export const trial: Trial = {
  what: "odd bodies, broken HTTP, requests that are cut off or hang, beside ordinary calls and a kill",
  nodes: 1,
  round: async (bed, random, share) => {
    await withVendor(bed);
    const odd = Array.from({ length: Math.ceil(ODD * share) }, () => oddRequest(random));
    const ordinary = Array.from({ length: Math.ceil(ORDINARY * share) }, () => randomCall(random, { pauseMs: 200 }));
    const kill = killOf(random);
    const made: number[] = [];
    bed.alsoExpect(() =>
      made.map((call) => ({ call, least: 0, most: MOST_UNITS, words: `call ${call} (an odd request)` })),
    );
    const caller = async (): Promise<void> => {
      for (let next = odd.shift(); next; next = odd.shift()) {
        await Bun.sleep(next.pauseMs);
        const node = bed.nodes.node(next.node % bed.nodes.all.length);
        for (let tries = 0; !node.isRunning && tries < 500; tries++) await Bun.sleep(20);
        const { call, key, address } = bed.newCall(next.token);
        made.push(call);
        const status = await send(node, Buffer.from(next.text(address, key)), next);
        bed.note("odd requests", status === 0 ? "without an answer" : `answered with ${status}`);
      }
    };
    const work = Promise.all([bed.run(ordinary, AT_ONCE / 2), ...Array.from({ length: AT_ONCE }, caller)]);
    await carryOut(bed, kill);
    await work;
  },
};
