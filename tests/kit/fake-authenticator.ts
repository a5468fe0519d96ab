/**
 * An authenticator for tests: one passkey on P-256, following w3.org/TR/webauthn-3 section 6 (authenticator data, COSE
 * key, attestation "none"). `fault` makes one part of an answer wrong.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

interface Fault {
  origin?: string;
  rpId?: string;
  verified?: boolean;
  /** The person touched it. */
  present?: boolean;
  type?: string;
  /** Signed by another key. */
  forge?: boolean;
  counter?: number;
}

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();

/** The few kinds of CBOR (RFC 8949) that an attestation is made of. */
function cbor(value: number | string | Buffer | Map<number | string, unknown>): Buffer {
  const head = (major: number, n: number): Buffer =>
    n < 24
      ? Buffer.from([(major << 5) | n])
      : n < 256
        ? Buffer.from([(major << 5) | 24, n])
        : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([
    head(5, value.size),
    ...[...value].flatMap(([key, member]) => [cbor(key), cbor(member as Buffer)]),
  ]);
}

export class FakeAuthenticator {
  readonly id = randomBytes(32);
  private readonly keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  private counter = 0;
  private userHandle = "";
  constructor(private readonly origin: string) {}

  private clientData(type: string, challenge: string, origin = this.origin): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  private data(rpId: string, flags: number, attested = Buffer.alloc(0), counter = ++this.counter): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested]);
  }

  /** navigator.credentials.create() of the options, as JSON. */
  create(options: { challenge: string; rp: { id?: string }; user: { id: string } }) {
    this.userHandle = options.user.id;
    const { x = "", y = "" } = this.keys.publicKey.export({ format: "jwk" });
    const key = cbor(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, "base64url")],
        [-3, Buffer.from(y, "base64url")],
      ]),
    );
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, key]);
    // User present, user verified, attested data.
    const authData = this.data(options.rp.id ?? "", 0x45, attested);
    const attestation = cbor(
      new Map<string, unknown>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", authData],
      ]),
    );
    return {
      id: this.id.toString("base64url"),
      rawId: this.id.toString("base64url"),
      type: "public-key" as const,
      clientExtensionResults: {},
      response: {
        clientDataJSON: this.clientData("webauthn.create", options.challenge).toString("base64url"),
        attestationObject: attestation.toString("base64url"),
        transports: ["internal"],
      },
    };
  }

  /** navigator.credentials.get() of the options, as JSON. */
  get(
    options: { challenge: string; rpId?: string },
    {
      origin,
      rpId = options.rpId ?? "",
      verified = true,
      present = true,
      type = "webauthn.get",
      forge = false,
      counter,
    }: Fault = {},
  ) {
    const clientData = this.clientData(type, options.challenge, origin);
    const authData = this.data(rpId, (present ? 1 : 0) | (verified ? 4 : 0), undefined, counter);
    const key: KeyObject = forge ? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey : this.keys.privateKey;
    return {
      id: this.id.toString("base64url"),
      rawId: this.id.toString("base64url"),
      type: "public-key" as const,
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: authData.toString("base64url"),
        signature: sign("sha256", Buffer.concat([authData, sha256(clientData)]), key).toString("base64url"),
        userHandle: this.userHandle,
      },
    };
  }
}
